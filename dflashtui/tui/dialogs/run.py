"""Actions on several units: a row for each, with its state, until all have ended."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from dflashtui.text import printable
from dflashtui.tui.bar import lines_of
from dflashtui.tui.mounted import has_parts
from dflashtui.tui.rows.words import unit_label

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Sequence

    from textual.app import ComposeResult
    from textual.binding import BindingType

    from dflashtui.model.action import ActionResult, UnitAction
    from dflashtui.tui.styled import Cell

NAME_WIDTH = 34


class RunScreen(ModalScreen[None]):
    """`escape` stops what has not started; once all has ended it closes."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,enter", "leave", "stop / close", id="run.leave")]

    def __init__(self, actions: Sequence[UnitAction], stop: asyncio.Event) -> None:
        super().__init__()
        self._actions = tuple(actions)
        self._results: dict[UnitAction, ActionResult] = {}
        self._stop = stop
        self._has_ended = False
        self._text = Static(markup=False)

    def compose(self) -> ComposeResult:
        """One line an action."""
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = Content(f"{self._actions[0].verb.value} · {len(self._actions)} units")
            with VerticalScroll(can_focus=False):
                yield self._text

    def on_mount(self) -> None:
        """Draw the first state."""
        self._draw()

    def result(self, result: ActionResult) -> None:
        """One has ended."""
        self._results[result.action] = result
        self._draw()

    def end(self) -> None:
        """All have ended."""
        self._has_ended = True
        self._draw()

    def action_leave(self) -> None:
        """Stop what has not started; close when all has ended."""
        if self._has_ended:
            self.dismiss(None)
        else:
            self._stop.set()
            self._draw()

    def _draw(self) -> None:
        if not has_parts(self):
            return
        self._text.update(lines_of(tuple(self._line(action) for action in self._actions)))
        waiting = "stopping: what runs is waited for" if self._stop.is_set() else "escape stops what has not started"
        self.query_one(Vertical).border_subtitle = Content("escape closes" if self._has_ended else waiting)

    def _line(self, action: UnitAction) -> Cell:
        glyph, role, words = _state(self._results.get(action))
        name = f"{printable(action.host)} {unit_label(action.unit)}"
        return ((f"{glyph} ", role), (f"{name:<{NAME_WIDTH}} ", ""), (words, "dim" if role in {"ok", "off"} else role))


def _state(result: ActionResult | None) -> tuple[str, str, str]:
    """Glyph, role, words."""
    if result is None:
        return "○", "off", "waiting or running"
    if result.ok is None:
        return "◌", "warn", f"unknown: {printable(result.message)}"
    if result.ok:
        return "●", "ok", f"{printable(result.result)} in {result.duration_seconds:.1f} s"
    if result.result == "skipped":
        return "○", "off", "skipped"
    return "×", "bad", printable(result.message)
