"""The log pane's keys that look and take: histogram, colours, blocks, selections, marks."""

from __future__ import annotations

import json

from dflashtui.tui.log import messages
from dflashtui.tui.log.lines import LogLines
from tests.tui.log_items import TRACEBACK, entries, entry, numbered
from tests.tui.test_log_pane import LogApp, running

RED = "\x1b[31mred\x1b[0m \x1b[2Jtext"


def here(app: LogApp) -> str:
    """The line under the cursor."""
    return next(row for row in app.shown if row.startswith("›")).split(maxsplit=2)[-1]


def copied(app: LogApp) -> str:
    """What the last key wished to copy."""
    wish = app.wishes[-1]
    assert isinstance(wish, messages.CopyWanted)
    return wish.text


async def test_the_histogram_is_walked_by_the_cursor_and_arrows_scroll_when_it_is_away() -> None:
    async with running() as (app, pilot):
        app.pane.show("h", "u.service", [*numbered(3), entry(500, "ERROR: bad"), *numbered(2, first=1000)])
        await pilot.press("i")
        await pilot.pause()
        assert "errors" in str(app.pane.query_one("Histogram").render())
        await pilot.press("left")
        assert here(app) == "ERROR: bad"
        assert not app.pane.is_following
        await pilot.press("left")
        assert here(app) == "line 0"
        await pilot.press("right", "right")
        assert here(app) == "line 1000"
        await pilot.press("i", "left")
        assert here(app) == "line 1000"


async def test_colours_of_the_service_are_kept_or_dropped_and_nothing_else_acts() -> None:
    async with running() as (app, pilot):
        app.pane.show("h", "u.service", entries([RED, "last"]))
        await pilot.pause()
        lines = app.query_one(LogLines)

        def colours() -> set[object]:
            return {
                one.style.color for one in lines.render_line(0) if one.text.strip() and one.style and "red" in one.text
            }

        (coloured,) = colours()
        assert "\x1b" not in app.shown[0]
        await pilot.press("v")
        (plain,) = colours()
        assert plain != coloured
        await pilot.press("v")
        assert colours() == {coloured}


async def test_a_block_a_selection_and_json_are_copied() -> None:
    async with running() as (app, pilot):
        app.pane.show("h", "u.service", entries(["one", *TRACEBACK, RED]))
        await pilot.press("J")
        assert json.loads(copied(app))["message"] == RED
        await pilot.press("X", "C")
        assert copied(app) == "\n".join(TRACEBACK)
        await pilot.press("g", "V", "j", "c")
        assert copied(app) == f"one\n{TRACEBACK[0]}"
        await pilot.press("J")
        assert [json.loads(line)["message"] for line in copied(app).splitlines()] == ["one", TRACEBACK[0]]


async def test_errors_marks_and_folds_have_keys() -> None:
    async with running() as (app, pilot):
        app.pane.show("h", "u.service", entries(["one", *TRACEBACK, "end"]))
        await pilot.press("g", "m", "e")
        assert here(app) == TRACEBACK[0]
        await pilot.press("z")
        assert "soundfile" not in "".join(app.shown)
        await pilot.press("apostrophe")
        assert here(app) == "one"
        await pilot.press("x")
        assert here(app).startswith(TRACEBACK[0])
        await pilot.press("z")
        assert "soundfile" in "".join(app.shown)
