"""What a preflight finds: a fault that would end a start, found without starting anything."""

from __future__ import annotations

from typing import Literal

from dflashtui.model.base import Value


class PreflightFinding(Value):
    """One fault, or one thing that could not be looked at."""

    id: str
    """Stable: the check and the thing, so that scripts can tell a new finding from an old one."""
    level: Literal["fatal", "warning", "note", "unknown"]
    """`fatal`: this start fails; `unknown`: could not be judged, which is neither well nor broken."""
    check: str
    """Which check found it: `imports`, `port`, `model`, …"""
    host: str
    unit: str
    message: str
    """What is wrong, in a sentence. May hold text of the host: not yet `printable()`."""
    evidence: tuple[str, ...] = ()
    """What was seen, one fact a line."""
    remedy: str | None = None
    """What to do, in words."""
    command: tuple[str, ...] | None = None
    """What does it on the host, where one command can."""
