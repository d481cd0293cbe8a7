"""Hosts × steps while a push or a deployment runs, and what came of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from dflashtui.tui.bar import content_of, lines_of
from dflashtui.tui.changes.words import deploy_lines
from dflashtui.tui.details.parts import folded
from dflashtui.tui.mounted import has_parts
from dflashtui.tui.rows.words import unit_label
from dflashtui.tui.styled import Cell, plain

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual.app import ComposeResult
    from textual.binding import BindingType

    from dflashtui.model.deploy import HostDeploy

ALL_OPEN_UNTIL = 2
"""With so few hosts every one shows its steps."""
LEAST_WIDTH = 20


class ResultScreen(ModalScreen[str | None]):
    """`escape` stops what has not begun, and closes once all has ended. Answers `undo`, a host for `x`, or nothing."""

    HELP = "`j` and `k` choose a host, `u` undoes the push, `x` shows why it crashed, `escape` stops, then closes."
    CSS_PATH = "changes.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,enter", "leave", "stop / close", id="result.leave"),
        Binding("u", "undo", "undo", id="result.undo", tooltip="Put back what was there before; asks first"),
        Binding("x", "why", "why", id="result.why", tooltip="Crash card of the chosen host"),
        Binding("j,down", "choose(1)", "next host", show=False, id="result.next"),
        Binding("k,up", "choose(-1)", "previous host", show=False, id="result.previous"),
        Binding("c", "copy", "copy", id="result.copy", tooltip="Copy what is shown"),
    ]

    def __init__(self, verb: str, unit: str, hosts: Sequence[str]) -> None:
        super().__init__()
        self._verb = verb
        self._unit = unit
        self._order = list(hosts)
        self._rows: dict[str, HostDeploy] = {}
        self.on_stop: Callable[[], None] = lambda: None
        """Called when the person wants nothing more to begin."""
        self._chosen = 0
        self._has_ended = False
        self._is_stopping = False
        self._can_undo = False
        self._text = Static(markup=False)

    def compose(self) -> ComposeResult:
        """One block a host."""
        with Vertical(classes="dialog wide", id="result") as dialog:
            dialog.border_title = content_of(((f"{self._verb} ", ""), (unit_label(self._unit), "strong")))
            with VerticalScroll(id="page", can_focus=False):
                yield self._text

    def on_mount(self) -> None:
        """The first state."""
        self._draw()

    def show(self, row: HostDeploy) -> None:
        """How a host stands now."""
        self._rows[row.host] = row
        if row.host not in self._order:
            self._order.append(row.host)
        self._draw()

    def end(self, *, can_undo: bool) -> None:
        """All have ended."""
        self._has_ended, self._can_undo = True, can_undo
        self._draw()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """What can be done now."""
        match action:
            case "undo":
                return self._has_ended and self._can_undo
            case "why":
                row = self._row
                return row is not None and row.probe is not None and row.probe.cause is not None
            case _:
                return super().check_action(action, parameters)

    @property
    def _row(self) -> HostDeploy | None:
        return self._rows.get(self._order[self._chosen]) if self._order else None

    def _draw(self) -> None:
        if not has_parts(self):
            return
        width = max(LEAST_WIDTH, self.query_one("#page").size.width - 1)
        self._text.update(lines_of(folded(self._lines(), width)))
        self.query_one("#result", Vertical).border_subtitle = Content(self._keys())
        self.refresh_bindings()

    def _lines(self) -> tuple[Cell, ...]:
        rows = [(place, self._rows[host]) for place, host in enumerate(self._order) if host in self._rows]
        is_few = len(self._order) <= ALL_OPEN_UNTIL
        return tuple(
            line
            for place, row in rows
            for line in deploy_lines(
                row, is_chosen=place == self._chosen and not is_few, is_open=is_few or place == self._chosen
            )
        )

    def _keys(self) -> str:
        if not self._has_ended:
            return "stopping: what runs comes to its end" if self._is_stopping else "escape stops what has not begun"
        undo = "u undo · " if self._can_undo else ""
        why = "x why · " if self.check_action("why", ()) else ""
        return f"{undo}{why}c copy · escape closes"

    def on_resize(self) -> None:
        """Another width: other line breaks."""
        self.call_after_refresh(self._draw)

    def action_choose(self, by: int) -> None:
        """Another host."""
        if self._order:
            self._chosen = (self._chosen + by) % len(self._order)
            self._draw()

    def action_undo(self) -> None:
        """Leave with that wish."""
        self.dismiss("undo")

    def action_why(self) -> None:
        """Leave with that wish."""
        if self._row is not None:
            self.dismiss(f"why {self._row.host}")

    def action_copy(self) -> None:
        """What is shown, as text."""
        text = "\n".join(map(plain, self._lines()))
        self.app.copy_to_clipboard(text)
        self.notify(f"copied {len(text)} characters", markup=False, timeout=2)

    def action_leave(self) -> None:
        """Stop what has not begun; close when all has ended."""
        if self._has_ended:
            self.dismiss(None)
            return
        self._is_stopping = True
        self.on_stop()
        self._draw()
