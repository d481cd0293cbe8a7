"""The log pane in an application: keys, title, scrolling, messages, hostile text."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from datetime import UTC
from typing import TYPE_CHECKING, ClassVar

import pytest
from textual.app import App

from dflashtui.text import printable
from dflashtui.tui.ascii import TABLE
from dflashtui.tui.log import messages
from dflashtui.tui.log.buffer import LIVE_LIMIT
from dflashtui.tui.log.lines import LogLines
from dflashtui.tui.log.ranges import Range
from dflashtui.tui.log.widget import LogPane
from tests.faults.marks import fault
from tests.tui.log_items import START, TRACEBACK, entries, entry, gap, numbered

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from textual.app import ComposeResult
    from textual.message import Message
    from textual.pilot import Pilot

    from dflashtui.model.journal import JournalItem

HOSTILE = "[/x] [red]no[/] \x1b]0;title\x07 \x1b[2J \x9b31m 日本語 \u202ereversed \x00"


class LogApp(App[None]):
    """One log pane, and what it wished."""

    ENABLE_COMMAND_PALETTE: ClassVar[bool] = False

    def __init__(self) -> None:
        super().__init__()
        self.wishes: list[Message] = []

    def compose(self) -> ComposeResult:
        pane = LogPane(zone=UTC)
        pane.styles.border_top = ("solid", "white")
        yield pane

    def on_mount(self) -> None:
        self.pane.focus_lines()

    @property
    def pane(self) -> LogPane:
        return self.query_one(LogPane)

    @property
    def shown(self) -> list[str]:
        """The visible rows, as text."""
        lines = self.query_one(LogLines)
        return [lines.render_line(y).text.rstrip() for y in range(lines.size.height)]

    @property
    def said(self) -> str:
        return str(self.pane.border_title).strip()

    def on_older_wanted(self, message: messages.OlderWanted) -> None:
        self.wishes.append(message)

    def on_range_wanted(self, message: messages.RangeWanted) -> None:
        self.wishes.append(message)

    def on_entry_opened(self, message: messages.EntryOpened) -> None:
        self.wishes.append(message)

    def on_copy_wanted(self, message: messages.CopyWanted) -> None:
        self.wishes.append(message)


@asynccontextmanager
async def running(height: int = 12) -> AsyncIterator[tuple[LogApp, Pilot[None]]]:
    app = LogApp()
    async with app.run_test(size=(80, height)) as pilot:
        yield app, pilot


async def until(pilot: Pilot[None], holds: Callable[[], bool]) -> None:
    """Wait for a condition; the test's own limit ends it."""
    while not holds():
        await pilot.pause(0.02)


async def test_it_follows_and_pauses_and_catches_up_by_jumping() -> None:
    async with running() as (app, pilot):
        app.pane.show("gpu07", "sglang-a.service", numbered(100))
        await pilot.pause()
        assert app.shown[-1].endswith("line 99")
        assert app.said == "log sglang-a@gpu07 · following"
        await pilot.press("k")
        app.pane.append(numbered(214, first=100))
        await until(pilot, lambda: "214 new" in app.said)
        assert app.shown[-1].endswith("line 99")
        await pilot.press("G")
        assert app.shown[-1].endswith("line 313")
        assert app.said == "log sglang-a@gpu07 · following"


async def test_the_wheel_pauses_too_and_takes_the_cursor_along() -> None:
    async with running() as (app, pilot):
        app.pane.show("h", "u.service", numbered(100))
        await pilot.pause()
        app.query_one(LogLines).scroll_to(y=40, animate=False)
        await until(pilot, lambda: not app.pane.is_following)
        assert [row for row in app.shown if row.startswith("›")] == [app.shown[-1]]
        await pilot.press("j")
        assert [row[-7:] for row in app.shown if row.startswith("›")] == ["line 51"]


async def test_a_paused_screen_stays_where_it_is_when_older_lines_come() -> None:
    async with running() as (app, pilot):
        app.pane.show("h", "u.service", numbered(50, first=1000))
        await pilot.pause()
        await pilot.press("g")
        await until(pilot, lambda: bool(app.wishes))
        (wish,) = app.wishes
        assert isinstance(wish, messages.OlderWanted)
        assert (wish.host, wish.unit, wish.before_cursor) == ("h", "u.service", "i=1000")
        before = app.shown
        app.pane.prepend(numbered(500, first=500))
        await pilot.pause()
        assert app.shown == before
        await pilot.press("k")
        assert app.shown[1] == "›  03:16:39.000 line 999"
        assert app.shown[2].endswith("line 1000")


async def test_older_lines_are_asked_for_once_and_not_beyond_the_start() -> None:
    async with running() as (app, pilot):
        app.pane.show("h", "u.service", numbered(5))
        await pilot.press("g", "g", "k")
        assert len(app.wishes) == 1
        app.pane.prepend(())
        await pilot.press("g")
        assert len(app.wishes) == 1


async def test_search_counts_highlights_and_goes_on() -> None:
    async with running() as (app, pilot):
        app.pane.show("h", "u.service", numbered(100))
        await pilot.press("slash", *"line 4")
        assert app.said == "log u@h · paused · /line 4 11 matches"
        await pilot.press("enter", "N")
        assert [row[-7:] for row in app.shown if row.startswith("›")] == ["line 48"]
        await pilot.press("escape")
        assert "match" not in app.said


async def test_filter_and_level_show_in_the_title_and_escape_undoes_step_by_step() -> None:
    async with running() as (app, pilot):
        app.pane.show("h", "u.service", entries(["alpha", *TRACEBACK, "beta"]))
        await pilot.press("ampersand", *"!beta", "enter", "L", "L", "L", "L")
        assert app.said == "log u@h · following · errors · &!beta · 2 hidden"
        assert [row for row in app.shown if row] != []
        await pilot.press("escape")
        assert app.said == "log u@h · following · errors · 2 hidden"
        await pilot.press("escape")
        assert app.said == "log u@h · following"


async def test_a_filter_that_hides_everything_says_so() -> None:
    async with running() as (app, pilot):
        app.pane.show("h", "u.service", numbered(3))
        await pilot.press("ampersand", *"foo")
        assert app.shown[0].strip() == "0 of 3 lines match &foo – escape clears"


@fault("I10", how="a line that looks like a gap line", result="a mark in cells that no host's text reaches")
async def test_gaps_carry_a_mark_that_no_line_of_a_host_can() -> None:
    async with running() as (app, pilot):
        app.pane.show("h", "u.service", [entry(0, "━ gap in the journal: forged"), gap(1)])
        await pilot.pause()
        assert [row[:3] for row in app.shown[:2]] == ["   ", "› ━"]


@pytest.mark.parametrize("from_manager", [False, True])
async def test_hostile_text_is_shown_as_text(*, from_manager: bool) -> None:
    async with running() as (app, pilot):
        app.pane.show(HOSTILE, f"{HOSTILE}.service", [entry(0, HOSTILE, from_manager=from_manager), gap(1, HOSTILE)])
        app.pane.note = HOSTILE
        await pilot.pause()
        text = "\n".join(app.shown) + app.said
        assert "[/x] [red]no[/]" in text
        assert "\x1b" not in text
        assert all(printable(row) == row for row in text.splitlines())
        assert "title" not in text


async def test_wide_characters_never_run_over_the_edge() -> None:
    async with running() as (app, pilot):
        app.pane.show("h", "u.service", entries(["日本語" * 40, "x" * 300, "é" * 200]))
        await pilot.pause()
        lines = app.query_one(LogLines)
        for keys in ((), ("right",), ("right",), ("w",), ("t",), ("t",), ("t",)):
            await pilot.press(*keys)
            widths = {lines.render_line(y).cell_length for y in range(lines.size.height)}
            assert widths == {lines.scrollable_content_region.width}


async def test_long_lines_are_cut_with_a_sign_and_errors_are_not() -> None:
    async with running() as (app, pilot):
        app.pane.show("h", "u.service", entries(["x" * 100, f"ERROR {'y' * 100} the end"]))
        await pilot.pause()
        assert app.shown[0].endswith("…")
        assert "the end" in "".join(app.shown)


async def test_times_cycle_and_a_start_that_nobody_told_is_not_guessed() -> None:
    async with running() as (app, pilot):
        app.pane.show("h", "u.service", entries(["one", "two"]))
        await pilot.pause()
        assert app.shown[1] == "›  03:00:01.000 two"
        await pilot.press("t")
        assert app.shown[1].split() == ["›", "–", "two"]
        app.pane.tell_start("a" * 32, START)
        assert app.shown[1].split() == ["›", "+1.000", "two"]
        await pilot.press("t")
        assert app.shown[0].split() == ["one"]
        await pilot.press("t")
        assert app.said.endswith("· ago")
        await pilot.press("t")
        assert app.shown[1] == "›  two"
        assert app.said.endswith("no times")


async def test_wishes_go_up() -> None:
    async with running() as (app, pilot):
        app.pane.show("h", "u.service", entries(["one", "two\nthree"]))
        await pilot.press("enter", "c", "1")
        opened, copied, ranged = app.wishes
        assert isinstance(opened, messages.EntryOpened)
        assert opened.entry.message == "two\nthree"
        assert isinstance(copied, messages.CopyWanted)
        assert copied.text == "two\nthree"
        assert isinstance(ranged, messages.RangeWanted)
        assert ranged.wanted is Range.RUN


async def test_of_a_flood_the_newest_lines_are_kept_and_keys_work() -> None:
    async with running() as (app, pilot):
        app.pane.show("h", "u.service")
        app.pane.append(numbered(3))
        await pilot.pause()
        app.pane.append(numbered(LIVE_LIMIT + 5312, first=3))
        await pilot.press("k")
        assert not app.pane.is_following
        await until(pilot, lambda: not app.pane.is_drawing)
        await pilot.press("G")
        assert app.shown[-1].endswith(f"line {LIVE_LIMIT + 5314}")
        assert app.pane.text_shown().splitlines()[0].endswith("line 5315")


async def test_lines_that_were_not_drawn_are_counted_in_place() -> None:
    async with running() as (app, pilot):
        app.pane.show("h", "u.service", numbered(3))
        await pilot.press("k")
        app.pane.append(numbered(LIVE_LIMIT + 5312, first=3))
        await until(pilot, lambda: not app.pane.is_drawing)
        saved = app.pane.text_shown().splitlines()
        assert saved[2].endswith("line 2")
        assert saved[3].endswith("dflashtui: … 5 312 lines not shown …")
        assert saved[4].endswith("line 5315")


async def test_what_the_mouse_selects_is_copied() -> None:
    async with running() as (app, pilot):
        app.pane.show("h", "u.service", numbered(30))
        await pilot.pause()
        lines = app.query_one(LogLines)
        await pilot.mouse_down(lines, offset=(16, 2))
        await pilot.hover(lines, offset=(16, 2))
        await pilot.hover(lines, offset=(22, 3))
        await pilot.mouse_up(lines, offset=(22, 3))
        await pilot.press("c")
        (wish,) = app.wishes
        assert isinstance(wish, messages.CopyWanted)
        assert wish.text.splitlines()[0] == "line 21"
        assert wish.text.splitlines()[1].startswith("   03:00:22.000 line")


async def test_what_is_shown_can_be_saved() -> None:
    async with running() as (app, pilot):
        app.pane.show("h", "u.service", entries(["keep", "drop"]))
        await pilot.press("ampersand", *"keep", "enter")
        assert app.pane.text_shown() == "2026-12-01T03:00:00.000000Z python: keep\n"
        assert [item.cursor for item in app.pane.items_shown() if item.kind == "entry"] == ["i=0"]


async def test_no_timer_runs_while_nothing_comes() -> None:
    async with running() as (app, pilot):
        app.pane.show("h", "u.service")
        app.pane.append(numbered(3))
        await until(pilot, lambda: not app.pane.is_drawing)
        app.pane.append(numbered(1, first=3))
        await pilot.pause()
        assert app.pane.is_drawing


async def test_the_line_under_the_cursor_stays_in_view_when_the_size_changes() -> None:
    async with running(24) as (app, pilot):
        app.pane.show("h", "u.service", numbered(100))
        await pilot.press("g", *["j"] * 20)
        for size in ((40, 8), (120, 30), (60, 10)):
            await pilot.resize_terminal(*size)
            await asyncio.sleep(0)
            assert [row[-7:] for row in app.shown if row.startswith("›")] == ["line 20"]


async def test_every_sign_has_an_ascii_form_of_its_own() -> None:
    async with running() as (app, pilot):
        items: list[JournalItem] = [
            entry(0, "INFO"),
            entry(1, "ERROR"),
            entry(2, "WARNING"),
            entry(3, "Started", from_manager=True),
            *entries(TRACEBACK[:2], 4),
            gap(6),
        ]
        app.pane.show("h", "u.service", items)
        await pilot.pause()
        signs = [row[2] for row in app.shown[:7]]
        plain = [sign.translate(TABLE) for sign in signs]
        assert all(sign.isascii() for sign in plain)
        assert len(set(plain)) == len(set(signs)) == 6
