"""A command that changes a host and is no verb on a unit: what is asked for, what came of it."""

from __future__ import annotations

import shlex
from datetime import datetime

from dflashtui.model.base import Value


class HostCommand(Value):
    """One argv on one host, for the sake of a unit."""

    host: str
    unit: str | None = None
    argv: tuple[str, ...]
    title: str = ""
    """What it is for, in words."""

    @property
    def command(self) -> str:
        """`argv` as a person would type it."""
        return shlex.join(self.argv)


class CommandResult(Value):
    """What the host said about it."""

    command: HostCommand
    ok: bool | None
    """`None`: the outcome is unknown (link lost while it ran, or no longer waited for)."""
    result: str
    """`done`, `exit 1`, or why it was not run."""
    message: str
    """What, why and what to do, in a sentence."""
    exit_status: int | None = None
    started_at: datetime
    duration_seconds: float
