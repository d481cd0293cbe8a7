"""What travels between the parts of the console."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from dflashtui.fleet.base import Change


class HostChanged(Message):
    """One step of the change stream. It carries events, so none may be skipped."""

    def __init__(self, change: Change) -> None:
        super().__init__()
        self.change = change
