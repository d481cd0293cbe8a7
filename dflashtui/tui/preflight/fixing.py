"""A plan of commands while it runs: how each stands, and what they say."""

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
from dflashtui.tui.styled import Cell, cell, cut, plain

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual.app import ComposeResult
    from textual.binding import BindingType

    from dflashtui.model.command import CommandResult, HostCommand

LINES_KEPT = 500
DRAW_SECONDS = 0.1
LEAST_WIDTH = 20
WAITING, RUNNING, ENDED = ("·", "dim"), ("◐", "busy"), ("–", "dim")
RESULTS = {True: ("●", "ok"), False: ("×", "bad"), None: ("◌", "warn")}


class FixScreen(ModalScreen[None]):
    """`escape` begins nothing more, a second one ends what runs; once all has ended it closes."""

    HELP = "`escape` begins nothing more, a second one ends what runs; then it closes. `c` copies the output."
    CSS_PATH = "preflight.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "leave", "stop / close", id="fix.leave"),
        Binding("c", "copy", "copy the output", id="fix.copy"),
    ]

    def __init__(self, plan: Sequence[HostCommand], end: Callable[[], None], *, verb: str = "fixing") -> None:
        """`end` ends the command that runs."""
        super().__init__()
        self._verb = verb
        self._plan = tuple(plan)
        self._end = end
        self._at = -1
        self._results: list[CommandResult] = []
        self._lines: deque[Cell] = deque(maxlen=LINES_KEPT)
        self.is_stopping = False
        """Whether nothing more is to begin."""
        self._has_ended = False
        self._is_dirty = True
        self._steps = Static(markup=False)
        self._text = Static(markup=False)

    def compose(self) -> ComposeResult:
        """The plan, and what its commands say."""
        with Vertical(classes="dialog wide", id="fix") as dialog:
            hosts = ", ".join(dict.fromkeys(printable(command.host) for command in self._plan))
            dialog.border_title = content_of(((f"{self._verb} ", "strong"), (f"on {hosts}", "")))
            with VerticalScroll(id="steps", can_focus=False):
                yield self._steps
            with VerticalScroll(id="output", can_focus=False):
                yield self._text

    def on_mount(self) -> None:
        """Draw at most ten times a second."""
        self.set_interval(DRAW_SECONDS, self._draw)
        self._draw()

    def begin(self, place: int) -> None:
        """A command of the plan begins."""
        self._at = place
        command = self._plan[place]
        self._say(((f"{printable(command.host)} $ ", "dim"), (printable(command.command, limit=1000), "accent")))

    def line(self, text: str) -> None:
        """One more line of its output."""
        self._say(cell(printable(text.rpartition("\r")[2] or text, limit=500), "dim"))

    def result(self, result: CommandResult) -> None:
        """It has ended."""
        self._results.append(result)
        glyph, role = RESULTS[result.ok]
        words = result.result if result.exit_status is not None else result.message
        self._say(
            ((f"{glyph} ", role), (f"{printable(words, limit=400)} after {human_span(result.duration_seconds)}", role))
        )

    def ended(self, words: str) -> None:
        """Nothing more runs; `words`: what comes now."""
        self._has_ended = True
        self._say(cell(words, "dim"))
        self._draw()

    def _say(self, line: Cell) -> None:
        self._lines.append(line)
        self._is_dirty = True

    def _draw(self) -> None:
        if not self._is_dirty or not has_parts(self):
            return
        self._is_dirty = False
        output, steps = self.query_one("#output"), self.query_one("#steps")
        self._steps.update(
            lines_of(tuple(cut(line, max(LEAST_WIDTH, steps.size.width - 1)) for line in self._states()))
        )
        steps.scroll_to(y=max(0, self._at - 2), animate=False)
        self._text.update(lines_of(folded(self._lines, max(LEAST_WIDTH, output.size.width - 1))))
        output.scroll_end(animate=False)
        self.query_one("#fix", Vertical).border_subtitle = Content(self._keys())

    def _states(self) -> tuple[Cell, ...]:
        return tuple(self._state(place, command) for place, command in enumerate(self._plan))

    def _state(self, place: int, command: HostCommand) -> Cell:
        if place < len(self._results):
            glyph, role = RESULTS[self._results[place].ok]
        elif self._has_ended:
            glyph, role = ENDED
        else:
            glyph, role = RUNNING if place == self._at else WAITING
        return ((f"{glyph} ", role), (f"{printable(command.host)}  ", "dim"), (printable(command.command), ""))

    def _keys(self) -> str:
        if self._has_ended:
            return "escape closes · c copies"
        if self.is_stopping:
            return "nothing more begins · escape again ends what runs"
        return "it runs · escape stops what has not begun"

    def on_resize(self) -> None:
        """Another width: other line breaks."""
        self._is_dirty = True
        self.call_after_refresh(self._draw)

    def action_copy(self) -> None:
        """What was said."""
        text = "\n".join(map(plain, self._lines))
        self.app.copy_to_clipboard(text)
        self.notify(f"copied the output: {len(text)} characters", markup=False, timeout=2)

    def action_leave(self) -> None:
        """Begin nothing more; then end what runs; then close."""
        if self._has_ended:
            self.dismiss(None)
        elif self.is_stopping:
            self._end()
        else:
            self.is_stopping = self._is_dirty = True
            self._draw()
