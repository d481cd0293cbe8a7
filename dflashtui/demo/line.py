"""One line that a simulated service or the manager wrote."""

from __future__ import annotations

from typing import NamedTuple

from dflashtui.model.journal import Priority


class Line(NamedTuple):
    """`at_usec`: microseconds since the epoch, unlike any other of its unit."""

    at_usec: int
    text: str
    invocation_id: str
    pid: int
    identifier: str
    priority: Priority = Priority.INFO
    message_id: str | None = None

    @property
    def from_manager(self) -> bool:
        """Whether systemd itself says it."""
        return self.pid == 1
