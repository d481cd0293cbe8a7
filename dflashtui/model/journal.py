"""Journal entries, and the gaps between them."""

from __future__ import annotations

from datetime import datetime
from enum import IntEnum
from typing import Literal

from dflashtui.model.base import Value


class Priority(IntEnum):
    """syslog(3) levels; lower is worse."""

    EMERG = 0
    ALERT = 1
    CRIT = 2
    ERR = 3
    WARNING = 4
    NOTICE = 5
    INFO = 6
    DEBUG = 7


class JournalEntry(Value):
    """One journal entry. `message` is the text as it was written, not yet `printable()`."""

    kind: Literal["entry"] = "entry"
    cursor: str
    at: datetime
    """`__REALTIME_TIMESTAMP`: when journald received it, UTC."""
    monotonic_usec: int | None = None
    """`__MONOTONIC_TIMESTAMP` within `boot_id`."""
    boot_id: str | None = None
    priority: Priority = Priority.INFO
    message: str = ""
    unit: str | None = None
    """The watched unit that this entry belongs to (`_SYSTEMD_UNIT`, or `UNIT` when the manager speaks about it)."""
    from_manager: bool = False
    """Written by the manager itself (`_PID=1`, or the user manager), so that its message id can be believed."""
    invocation_id: str | None = None
    pid: int | None = None
    syslog_identifier: str | None = None
    transport: str | None = None
    stream_id: str | None = None
    line_break: str | None = None
    """`_LINE_BREAK`: why journald cut the line here (`line-max`, `nul`, `eof`, `pid-change`)."""
    message_id: str | None = None


class JournalGap(Value):
    """A place where entries may be missing; shown as a line of its own, never hidden."""

    kind: Literal["gap"] = "gap"
    at: datetime
    reason: str
    """In words: `journal rotated while the link was down`, `journald suppressed 1200 messages`."""
    unit: str | None = None
    """`None`: concerns every unit of the host."""
    entries_lost: int | None = None
    """How many, when somebody knows."""
    cursor: str | None = None
    """Of the entry that told of it; `None`: found out by the console itself."""

    @property
    def text(self) -> str:
        """The line to show: the reason, and how many lines are missing unless it says so itself."""
        if self.entries_lost is None or str(self.entries_lost) in self.reason:
            return self.reason
        return f"{self.reason}: {self.entries_lost} lines not shown"


JournalItem = JournalEntry | JournalGap
