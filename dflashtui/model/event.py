"""What happened on the fleet, one line each, for the events view."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from dflashtui.model.base import Value


class Severity(StrEnum):
    """How an event is coloured: the roles ok, busy, warn, bad."""

    OK = "ok"
    BUSY = "busy"
    WARN = "warn"
    BAD = "bad"


class EventKind(StrEnum):
    """What an event is about."""

    LINK = "link"
    UNIT = "unit"
    GPU = "gpu"
    JOURNAL = "journal"
    ACTION = "action"
    CONSOLE = "console"


class Event(Value):
    """One event. `message` holds text from hosts: not yet `printable()`."""

    at: datetime
    kind: EventKind
    severity: Severity
    host: str | None = None
    unit: str | None = None
    message: str
