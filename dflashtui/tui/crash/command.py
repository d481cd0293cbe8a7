"""A command that runs on a host: its output as it comes, and how it ended."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from dflashtui.text import human_span, printable
from dflashtui.tui.bar import content_of, lines_of
from dflashtui.tui.details.parts import folded
from dflashtui.tui.mounted import has_parts
from dflashtui.tui.styled import Cell, cell, plain

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.app import ComposeResult
    from textual.binding import BindingType

    from dflashtui.model.command import CommandResult, HostCommand

LINES_KEPT = 500
DRAW_SECONDS = 0.1
LEAST_WIDTH = 20


class CommandScreen(ModalScreen[None]):
    """`escape` closes it; while the command runs, a second one ends the command."""

    CSS_PATH = "crash.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "leave", "close", id="command.leave"),
        Binding("c", "copy", "copy the output", id="command.copy"),
    ]

    def __init__(self, command: HostCommand, end: Callable[[], None]) -> None:
        """`end` ends the command on the host."""
        super().__init__()
        self._command = command
        self._end = end
        self._lines: deque[Cell] = deque(maxlen=LINES_KEPT)
        self._result: CommandResult | None = None
        self._is_dirty = True
        self._was_asked = False
        self._text = Static(markup=False)

    def compose(self) -> ComposeResult:
        """The command, and what it says."""
        with Vertical(classes="dialog wide-command") as dialog:
            dialog.border_title = content_of(
                ((printable(self._command.title, limit=60), ""), (f" on {printable(self._command.host)}", "dim"))
            )
            yield Static(content_of((("$ ", "dim"), (printable(self._command.command), "accent"))), markup=False)
            with VerticalScroll(id="output", can_focus=False):
                yield self._text

    def on_mount(self) -> None:
        """Draw at most ten times a second."""
        self.set_interval(DRAW_SECONDS, self._draw)
        self._draw()

    def line(self, text: str) -> None:
        """One more line of its output."""
        self._lines.append(cell(printable(text.rpartition("\r")[2] or text, limit=500), "dim"))
        self._is_dirty = True

    def end(self, result: CommandResult, *, then: str = "") -> None:
        """It has ended. `then`: what comes next."""
        self._result = result
        role, glyph = {True: ("ok", "●"), False: ("bad", "×"), None: ("warn", "◌")}[result.ok]
        words = result.result if result.exit_status is not None else result.message
        said = f"{printable(words, limit=400)} after {human_span(result.duration_seconds)}"
        self._lines.append(((f"{glyph} ", role), (said, role), (f" · {then}" if then else "", "dim")))
        self._is_dirty = True
        if has_parts(self):
            self._draw()

    def _draw(self) -> None:
        if not self._is_dirty or not has_parts(self):
            return
        self._is_dirty = False
        output = self.query_one("#output")
        width = max(LEAST_WIDTH, output.size.width - 1)
        lines = tuple(self._lines) or (cell("started …", "busy"),)
        self._text.update(lines_of(folded(lines, width)))
        output.scroll_end(animate=False)
        again = "escape again ends the command on the host" if self._was_asked else "it runs · escape twice ends it"
        self.query_one(Vertical).border_subtitle = Content("escape closes · c copies" if self._result else again)

    def action_copy(self) -> None:
        """What it has said."""
        text = "\n".join(map(plain, self._lines))
        self.app.copy_to_clipboard(text)
        self.notify(f"copied the output: {len(text)} characters", markup=False, timeout=2)

    def action_leave(self) -> None:
        """Close; while it runs, ask once more, then end it."""
        if self._result is not None:
            self.dismiss(None)
        elif self._was_asked:
            self._end()
        else:
            self._was_asked = self._is_dirty = True
            self._draw()
