"""One line of a log, whatever it was read from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from datetime import datetime

    from dflashtui.model.journal import JournalEntry

Origin = Literal["service", "manager", "kernel"]
"""Who wrote it: the service (or a wrapper of it), the service manager, the kernel."""


class Line(NamedTuple):
    """A line as it was written: escape sequences, carriage returns and prefixes are still in it."""

    text: str
    number: int | None = None
    """1-based, in the input; `None` from a live journal."""
    pid: int | None = None
    identifier: str | None = None
    """`SYSLOG_IDENTIFIER`, or the word before `[PID]:` in journalctl's short form."""
    origin: Origin = "service"
    stream_id: str | None = None
    is_cut: bool = False
    """journald cut it at its length limit: the next line of the same stream goes on with it."""
    at: datetime | None = None
    unit: str | None = None
    invocation_id: str | None = None
    host: str | None = None


def from_entry(entry: JournalEntry) -> Line:
    """The line of a journal entry."""
    origin: Origin = "manager" if entry.from_manager else "kernel" if entry.transport == "kernel" else "service"
    return Line(
        text=entry.message,
        pid=entry.pid,
        identifier=entry.syslog_identifier,
        origin=origin,
        stream_id=entry.stream_id,
        is_cut=entry.line_break == "line-max",
        at=entry.at,
        unit=entry.unit,
        invocation_id=entry.invocation_id,
    )
