"""Text from hosts neither ends, colours, clicks nor retitles anything, in any view or dialog."""

from __future__ import annotations

import io
import re

import pytest
from rich.console import Console as RichConsole
from rich.segment import Segments

from dflashtui.model.event import Event, EventKind, Severity
from dflashtui.model.journal import JournalEntry
from tests.faults.marks import fault
from tests.tui.fake import Console, console
from tests.tui.stage import ALL_HOSTILE, BAD_UNIT, HOSTILE, NOW

ENTRY = JournalEntry(cursor="c", at=NOW, message=HOSTILE, unit=HOSTILE, syslog_identifier=HOSTILE)
FORBIDDEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
VIEWS = ["1", "2", "3", "4", "5", "6"]
DIALOGS = ["d", "y", "c", "a", "R", "question_mark", "ctrl+p", "colon"]


def assert_harmless(c: Console) -> None:
    for line in c.app.screen._compositor.render_strips():
        for segment in line:
            assert not FORBIDDEN.search(segment.text), ascii(segment.text)
            assert not (segment.style and segment.style.meta.get("@click")), segment
    assert "title\x07" not in written(c)


def written(c: Console) -> str:
    """The bytes that a terminal would get for the screen, without the styles of our own."""
    file = io.StringIO()
    terminal = RichConsole(file=file, force_terminal=True, width=c.app.size.width, color_system="truecolor")
    for line in c.app.screen._compositor.render_strips():
        terminal.print(Segments(line), end="")
    return re.sub(r"\x1b\[[0-9;]*m", "", file.getvalue())


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("size", [(160, 50), (80, 24), (50, 14)])
@fault("H2", how="control sequences in every text of a host", result="none reaches the screen")
async def test_views(view: str, size: tuple[int, int]) -> None:
    async with console(ALL_HOSTILE, size=size) as c:
        c.fleet.journal = (ENTRY,)
        event = Event(at=NOW, kind=EventKind.UNIT, severity=Severity.BAD, host=HOSTILE, unit=HOSTILE, message=HOSTILE)
        c.fleet.post(ALL_HOSTILE, event)
        await c.press(view)
        await c.until(lambda: bool(c.screen.newest.events))
        await c.press("tab", "tab")
        await c.pilot.pause()
        assert_harmless(c)
        assert "\x1b" not in written(c)


@pytest.mark.parametrize("dialog", DIALOGS)
async def test_dialogs(dialog: str) -> None:
    async with console(ALL_HOSTILE) as c:
        c.fleet.properties_of = {"Id": HOSTILE, "RequiredBy": HOSTILE, HOSTILE: HOSTILE}
        c.fleet.fails = {BAD_UNIT.name}
        await c.press("enter", dialog)
        await c.until(lambda: c.app.screen is not c.screen)
        await c.pilot.pause()
        assert_harmless(c)
        assert c.app.is_running


async def test_toasts_and_results() -> None:
    async with console(ALL_HOSTILE) as c:
        c.screen.warn(HOSTILE)
        c.screen.copy(HOSTILE)
        await c.sees("copied")
        assert_harmless(c)


@fault("H1", how="text like markup", result="shown letter by letter")
async def test_markup_is_shown_as_it_was_written() -> None:
    async with console(ALL_HOSTILE) as c:
        await c.press("enter")
        await c.sees("[/x] [red]no[/]")
