"""Full screen, sizes by hand, mouse, shell, the log of another time or run."""

from __future__ import annotations

from datetime import timedelta

from dflashtui.model.journal import JournalEntry
from tests.tui.fake import FakeFleet, app_on, console, settled
from tests.tui.stage import LIVE, NOW, READY


def line(number: int, minutes: float, run: str | None = READY.invocation_id) -> JournalEntry:
    at = NOW - timedelta(minutes=minutes)
    return JournalEntry(cursor=f"c{number}", at=at, message=f"line {number}", unit=READY.name, invocation_id=run)


LINES = (line(1, 90, "a" * 32), line(2, 80, "a" * 32), line(3, 20), line(4, 3), line(5, 0.1))


async def test_a_pane_alone_and_back() -> None:
    async with console(LIVE) as c:
        await c.press("enter")
        await c.sees("GPUs 8 ─")
        await c.press("f")
        await c.until(lambda: "GPUs 8 ─" not in c.text and "units 3" in c.text)
        assert c.screen.list_pane is not None
        assert c.screen.list_pane.size.width > 130
        await c.press("f")
        await c.sees("GPUs 8 ─")


async def test_plus_and_underscore_move_the_divider_and_a_resize_forgets_it() -> None:
    async with console(LIVE) as c:
        await c.press("enter")
        await c.sees("units 3")
        left = c.screen.query_one("#host-left")
        before = left.size.width
        await c.press("plus", "plus")
        await c.until(lambda: left.size.width == before + 8)
        await c.press("underscore")
        await c.until(lambda: left.size.width == before + 4)
        await c.pilot.resize_terminal(140, 41)
        await c.until(lambda: left.size.width == before)


async def test_mouse_off_is_told() -> None:
    async with console(LIVE) as c:
        await c.press("M")
        await c.sees("mouse off")
        await c.press("M")
        await c.sees("mouse on")


async def test_a_shell_needs_a_terminal() -> None:
    async with console(LIVE) as c:
        await c.press("s")
        await c.sees("cannot be lent to a shell")


async def test_a_click_moves_the_cursor_and_a_double_click_enters() -> None:
    async with console(LIVE) as c:
        await c.press("enter")
        await c.sees("units 3")
        units = c.screen.query_one("#units RowList")
        await c.pilot.click(units, offset=(10, 2))
        await c.until(lambda: c.screen.subject is not None and c.screen.subject.name == "vllm-b.service")
        await c.press("escape")
        hosts = c.screen.query_one("#hosts RowList")
        await c.pilot.click(hosts, offset=(10, 1), times=2)
        await c.until(lambda: c.screen.way.here.view == "host")


async def test_a_range_shows_as_many_lines_as_it_holds() -> None:
    async with console(LIVE) as c:
        c.fleet.journal = LINES
        await c.press("enter")
        await c.sees("line 1", "line 5")
        c.screen.view.focus_pane(c.screen.log_pane)  # type: ignore[union-attr, arg-type]
        await c.press("3")
        await c.until(lambda: "line 3" not in c.text and "line 4" in c.text)
        await c.press("1")
        await c.until(lambda: "line 3" in c.text and "line 2" not in c.text)


async def test_since_on_the_command_line() -> None:
    async with console(LIVE) as c:
        c.fleet.journal = LINES
        await c.press("enter")
        await c.sees("line 1")
        await c.press("colon", *"since 30m", "enter")
        await c.until(lambda: "line 2" not in c.text and "line 3" in c.text)


async def test_the_run_before_this_one() -> None:
    async with console(LIVE) as c:
        c.fleet.journal = LINES
        await c.press("enter")
        await c.sees("line 5")
        await c.press("p")
        await c.sees("run before this one")


async def test_all_fields_of_an_entry() -> None:
    async with console(LIVE) as c:
        c.fleet.journal = LINES
        await c.press("enter")
        await c.sees("line 5")
        c.screen.view.focus_pane(c.screen.log_pane)  # type: ignore[union-attr, arg-type]
        await c.press("enter")
        await c.sees("journal entry", "invocation_id")


async def test_a_demo_says_so_everywhere() -> None:
    fleet = FakeFleet(LIVE)
    fleet.is_demo = True
    app = app_on(fleet)
    async with app.run_test(size=(120, 30)) as pilot:
        await settled(pilot)
        header = str(app.screen.query_one("#header").render())
        assert "DEMO" in header
        for view in "23456":
            await pilot.press(view)
            assert "DEMO" in str(app.screen.query_one("#header").render())
