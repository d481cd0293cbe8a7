"""Objects that only refer to each other: looked for while nobody waits, and none made by drawing a log."""

from __future__ import annotations

import gc
import weakref
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
from textual.app import App
from textual.strip import Strip

from dflashtui.tui.garbage import MOST_OBJECTS, QUIET_SECONDS, WORTH_OBJECTS, TidiesWhenQuiet, Tidying, watch
from dflashtui.tui.log.lines import LogLines
from dflashtui.tui.log.widget import LogPane
from tests.tui.log_items import numbered

if TYPE_CHECKING:
    from collections.abc import Iterator

    from textual.app import ComposeResult


@contextmanager
def no_looks() -> Iterator[None]:
    """Python's own thresholds come back behind it."""
    before = gc.get_threshold()
    gc.collect()
    gc.set_threshold(MOST_OBJECTS, 10, 10)
    try:
        yield
    finally:
        gc.set_threshold(*before)


class Loop:
    """Refers to itself."""

    def __init__(self) -> None:
        self.me = self


@pytest.mark.parametrize(("waited_seconds", "is_gone"), [(QUIET_SECONDS - 0.1, False), (QUIET_SECONDS, True)])
def test_garbage_goes_when_no_key_was_pressed_for_a_moment(waited_seconds: float, is_gone: bool) -> None:  # noqa: FBT001
    now = 100.0
    tidying = Tidying(lambda: now)
    with no_looks():
        loop = weakref.ref(Loop())
        kept = [[] for _ in range(WORTH_OBJECTS + 1)]  # type: ignore[var-annotated]
        tidying.pressed()
        now += waited_seconds
        assert tidying.tidy() is is_gone
        assert (loop() is None) is is_gone
        del kept


def test_nothing_is_looked_through_for_a_few_objects() -> None:
    now = 100.0
    tidying = Tidying(lambda: now)
    with no_looks():
        now += 60
        assert not tidying.tidy()


def test_what_was_there_at_the_start_is_never_looked_through() -> None:
    with no_looks():
        try:
            watch()
            assert gc.get_freeze_count() > 0
            assert gc.get_threshold()[0] == MOST_OBJECTS
        finally:
            gc.unfreeze()


class PaneApp(App[None]):
    def compose(self) -> ComposeResult:
        yield LogPane()


async def test_drawing_a_log_makes_no_strip_that_only_gc_finds() -> None:
    app = PaneApp()
    async with app.run_test(size=(100, 30)) as pilot:
        pane = app.query_one(LogPane)
        pane.show("gpu-a", "a.service", numbered(50))
        await pilot.pause()
        with no_looks():
            for turn in range(3):
                pane.append(numbered(50, first=50 * (turn + 1)))
                pane.action_stamp()
                while len(pane.items_shown()) < 50 * (turn + 2) or pane.is_drawing:
                    await pilot.pause(0.02)
            assert not [strip for strip in _garbage(Strip) if strip.cell_length > 1]  # type: ignore[attr-defined]


def _garbage(kind: type) -> list[object]:
    """What only a look through all objects finds."""
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        gc.collect()
        return [one for one in gc.garbage if isinstance(one, kind)]
    finally:
        gc.set_debug(0)
        gc.garbage.clear()


class QuietApp(TidiesWhenQuiet[None]):
    pass


async def test_a_key_says_that_somebody_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    pressed: list[bool] = []
    monkeypatch.setattr(Tidying, "pressed", lambda _: pressed.append(True))
    async with QuietApp().run_test() as pilot:
        await pilot.press("j")
        assert pressed


async def test_the_number_of_rows_lays_nothing_out_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    app = PaneApp()
    async with app.run_test(size=(100, 30)) as pilot:
        pane = app.query_one(LogPane)
        pane.show("gpu-a", "a.service", numbered(50))
        await pilot.pause()
        laid_out: list[str] = []
        monkeypatch.setattr(type(app.screen), "_refresh_layout", lambda *_, **__: laid_out.append("again"))
        pane.append(numbered(50, first=50))
        while pane.is_drawing:
            await pilot.pause(0.02)
        lines = app.query_one(LogLines)
        assert (lines.virtual_size.height, lines.vertical_scrollbar.window_virtual_size) == (100, 100)
        assert lines.is_vertical_scroll_end
        assert not laid_out


async def test_the_places_of_letters_are_told_to_the_mouse_and_not_painted() -> None:
    app = PaneApp()
    async with app.run_test(size=(100, 30)) as pilot:
        pane = app.query_one(LogPane)
        pane.show("gpu-a", "a.service", numbered(5))
        await pilot.pause()
        lines = app.query_one(LogLines)
        painted = lines.render_lines(lines.size.region)[0]
        assert not any("offset" in segment.style.meta for segment in painted if segment.style)
        asked = lines.render_line(0)
        assert [segment.style.meta["offset"][0] for segment in asked if segment.style][:2] == [0, 3]


class QuietPaneApp(TidiesWhenQuiet[None]):
    def compose(self) -> ComposeResult:
        yield LogPane()


async def test_lines_give_way_to_a_key_and_come_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    app = QuietPaneApp()
    async with app.run_test(size=(100, 30)) as pilot:
        pane = app.query_one(LogPane)
        pane.show("gpu-a", "a.service", numbered(1))
        monkeypatch.setattr("dflashtui.tui.garbage.JUST_NOW_SECONDS", 3600.0)
        await pilot.press("t")
        assert pane._gives_way()
        assert not pane._gives_way()
        assert pane._gives_way()
        pane.append(numbered(2, first=1))
        pane.append(numbered(2, first=3))
        while len(pane.items_shown()) < 5:
            await pilot.pause(0.02)
