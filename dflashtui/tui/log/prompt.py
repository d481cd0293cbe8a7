"""The line in which a search or a filter is typed."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.message import Message
from textual.widgets import Input

if TYPE_CHECKING:
    from textual.binding import BindingType


class LogPrompt(Input):
    """Shown while it is used. `enter` keeps what was typed, `escape` drops it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "drop", "Drop", id="log_prompt.drop", tooltip="Close this line and forget what it says"),
    ]

    class Dropped(Message):
        """Closed with `escape`."""

    def action_drop(self) -> None:
        """Close it."""
        self.post_message(self.Dropped())
