"""Where the log of a unit is shown."""

from __future__ import annotations

from textual.containers import Container
from textual.content import Content


class LogSlot(Container):
    """The log pane of a view."""

    def __init__(self, *, id: str) -> None:  # noqa: A002 - Textual's own name
        super().__init__(id=id, classes="pane")
        self.border_title = Content(" log ")
