"""One failed run of a unit, with everything that tells why: kept on disk, shown on the crash card."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from dflashtui.model.base import Value
from dflashtui.model.finding import Cause

LineMark = Literal["", "cause", "trace", "manager", "gap"]


class LogLine(Value):
    """A line of the run's log. `gap`: lines that are not shown stood here."""

    text: str
    mark: LineMark = ""
    at: datetime | None = None


class UnitText(Value):
    """A unit file as it was loaded at a good start, secrets masked."""

    at: datetime
    text: str


class FailedRun(Value):
    """Texts are the host's, secrets masked, not yet `printable()`."""

    host: str
    unit: str
    invocation_id: str | None = None
    words: str = ""
    """How it ended, in a sentence: `exit status 1`, `killed by SIGKILL`."""
    result: str | None = None
    """systemd's word: `exit-code`, `signal`, `oom-kill`, …; `None`: a later run took its place."""
    exit_code: int | None = None
    signal: str | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None
    n_restarts: int | None = None
    """Restarts by systemd itself until this run."""
    cause: Cause | None = None
    others: tuple[Cause, ...] = ()
    lines: tuple[LogLine, ...] = ()
    line_count: int = 0
    """How many lines were read; `lines` are those around the cause and the last ones."""
    neighbours: tuple[str, ...] = ()
    """What the kernel said within half a minute: Xids, kills for want of memory."""
    gpus_before: tuple[str, ...] = ()
    """Who held the memory of its GPUs when they were last read before the end; a line a GPU."""
    gpus_before_at: datetime | None = None
    unit_changes: tuple[str, ...] | None = None
    """Lines of the unit file, `+` or `-`, since the last good start; `None`: no good start is known."""
    good_start_at: datetime | None = None
    problem: str | None = None
    """What could not be read, and why."""
