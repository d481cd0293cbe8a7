"""The line in which a search or a filter is typed."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.containers import Horizontal
from textual.message import Message
from textual.widgets import Input, Static

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.binding import BindingType

HINTS = {
    "/": "search; S then looks further back on the host",
    "&": "only lines that match; !word: that do not; one more filter each time",
    "@": "12:04, 12-01 03:00, -10m, boot, last start, last failure, now",
}
LIVE = frozenset("/&")
"""Those that hold while they are typed."""


class LogPrompt(Horizontal):
    """Shown while it is used. `enter` keeps what was typed, `escape` drops it."""

    DEFAULT_CSS = """
    LogPrompt { dock: bottom; height: 1; padding: 0 1; }
    LogPrompt > Static { width: 1; }
    LogPrompt > Input { width: 1fr; height: 1; border: none; padding: 0; background: transparent; }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "drop", "Drop", id="log_prompt.drop", tooltip="Close this line and forget what it says"),
    ]

    class Typed(Message):
        """The text changed."""

        def __init__(self, kind: str, text: str) -> None:
            """`kind`: the key that opened it."""
            super().__init__()
            self.kind = kind
            self.text = text

    class Kept(Message):
        """Ended with `enter`."""

        def __init__(self, kind: str, text: str) -> None:
            super().__init__()
            self.kind = kind
            self.text = text

    class Closed(Message):
        """Closed with `enter` or `escape`."""

    def __init__(self) -> None:
        super().__init__()
        self._kind = "/"
        self._sign = Static(markup=False)
        self._input = Input(compact=True)
        self.display = False

    def compose(self) -> ComposeResult:
        """The key that opened it, and what is typed."""
        yield self._sign
        yield self._input

    def open(self, kind: str, text: str) -> None:
        """Show it with what holds now."""
        self._kind = kind
        self._sign.update(kind)
        self._input.placeholder = HINTS[kind]
        with self._input.prevent(Input.Changed):
            self._input.value = text
        self.display = True
        self.screen.set_focus(self._input)  # at once: focus() would come after the next keys

    def action_drop(self) -> None:
        """Forget what it says."""
        if self._kind in LIVE:
            self.post_message(self.Typed(self._kind, ""))
        self._close()

    def on_input_changed(self, event: Input.Changed) -> None:
        """As it is typed."""
        event.stop()
        if self.display and self._kind in LIVE:
            self.post_message(self.Typed(self._kind, event.value))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Keep it."""
        event.stop()
        self.post_message(self.Kept(self._kind, event.value))
        self._close()

    def _close(self) -> None:
        self.display = False
        self.post_message(self.Closed())
