"""Changing actions on units: what is asked for, how heavy it is, what came of it."""

from __future__ import annotations

import shlex
from datetime import datetime
from enum import StrEnum

from dflashtui.model.base import Value


class Verb(StrEnum):
    """What can be done to a unit; systemctl's words."""

    START = "start"
    STOP = "stop"
    RESTART = "restart"
    RELOAD = "reload"
    RESET_FAILED = "reset-failed"
    ENABLE = "enable"
    DISABLE = "disable"
    MASK = "mask"
    UNMASK = "unmask"
    KILL = "kill"


class Weight(StrEnum):
    """How an action is asked for (console conventions, part 6)."""

    LIGHT = "light"
    NORMAL = "normal"
    HEAVY = "heavy"


class UnitAction(Value):
    """One verb on one unit of one host."""

    verb: Verb
    host: str
    unit: str
    signal: str | None = None
    """For `kill`: `SIGTERM`, …"""
    manager: str = "system"

    @property
    def argv(self) -> tuple[str, ...]:
        """The exact command that does the same on the host."""
        user = ("--user",) if self.manager == "user" else ()
        signal = (f"--signal={self.signal}",) if self.signal else ()
        return ("systemctl", *user, *signal, self.verb.value, "--", self.unit)

    @property
    def command(self) -> str:
        """`argv` as a person would type it."""
        return shlex.join(part for part in self.argv if part != "--")


class ActionResult(Value):
    """What the host said about an action."""

    action: UnitAction
    ok: bool | None
    """`None`: the outcome is unknown (link lost between request and answer)."""
    result: str
    """The job's result (`done`, `failed`, `canceled`, `timeout`, `dependency`, …) or the refusal."""
    message: str
    """What, why and what to do, in a sentence."""
    via: str | None = None
    """`bus`, `systemctl`, `sudo`."""
    started_at: datetime
    duration_seconds: float
