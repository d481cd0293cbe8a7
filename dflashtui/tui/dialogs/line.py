"""The command line: `:host X`, `:unit X`, `:theme X`, `:q`, with completion."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.binding import Binding
from textual.containers import Horizontal
from textual.content import Content
from textual.screen import ModalScreen
from textual.suggester import Suggester
from textual.widgets import Input, Static

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult
    from textual.binding import BindingType


class Completion(Suggester):
    """The first known line that begins as what is typed."""

    def __init__(self, known: Sequence[str]) -> None:
        super().__init__(use_cache=False, case_sensitive=True)
        self._known = tuple(known)

    async def get_suggestion(self, value: str) -> str | None:
        """The rest of the line."""
        return next((line for line in self._known if line.startswith(value)), None) if value else None


class CommandLine(ModalScreen[str | None]):
    """Answers what was typed, without the colon."""

    HELP = "`tab` or `→` completes, `enter` does it, `escape` leaves."
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "leave", id="line.leave"),
        Binding("tab", "complete", "complete", id="line.complete"),
    ]

    def __init__(self, known: Sequence[str]) -> None:
        super().__init__()
        self._known = known

    def compose(self) -> ComposeResult:
        """One line at the bottom."""
        with Horizontal(id="line"):
            yield Static(Content(":"), id="colon")
            yield Input(compact=True, suggester=Completion(self._known), placeholder="host, unit, theme, since, w, q")

    @on(Input.Submitted)
    def _enter(self, event: Input.Submitted) -> None:
        self.dismiss(event.value.strip() or None)

    def action_complete(self) -> None:
        """Take what is suggested."""
        self.query_one(Input).action_cursor_right()

    def action_leave(self) -> None:
        """Nothing was typed."""
        self.dismiss(None)
