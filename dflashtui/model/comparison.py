"""What differs between the environments of hosts."""

from __future__ import annotations

from typing import Literal

from dflashtui.model.base import Value


class Stand(Value):
    """One answer, and the hosts that give it."""

    value: str | None
    """In words; `None`: absent there."""
    hosts: tuple[str, ...]


class Remark(Value):
    """Why a difference matters, on one host."""

    host: str
    message: str


class Compared(Value):
    """One thing as it stands on every host."""

    name: str
    group: Literal["decisive", "machine", "cuda", "setting", "package", "file"]
    stands: tuple[Stand, ...]
    """The answer of most hosts first."""
    fatal: tuple[Remark, ...] = ()
    """Rules that are broken on a host by how this stands there."""

    @property
    def differs(self) -> bool:
        """Whether the hosts give more than one answer."""
        return len(self.stands) > 1

    def on(self, host: str) -> str | None:
        """The answer of one host."""
        return next((stand.value for stand in self.stands if host in stand.hosts), None)


class Comparison(Value):
    """All of it, what decides first."""

    hosts: tuple[str, ...]
    """Those that were read."""
    rows: tuple[Compared, ...]
    unread: tuple[Remark, ...] = ()
    """Hosts that could not be read, and what could not be read of the others."""

    @property
    def differences(self) -> tuple[Compared, ...]:
        """Rows in which the hosts differ."""
        return tuple(row for row in self.rows if row.differs)

    @property
    def verdict(self) -> Literal["same", "differs", "fatal", "unknown"]:
        """The worst of it; with fewer than two hosts there is nothing to say."""
        if any(row.fatal for row in self.differences):
            return "fatal"
        if self.unread:
            return "unknown"
        return "differs" if self.differences else "same"
