"""What a diagnosis comes to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dflashtui.model.finding import Cause


@dataclass(frozen=True, slots=True)
class Verdict:
    """`cause` is `None` and `fatal` false where no failure was found."""

    fatal: bool
    cause: Cause | None
    others: tuple[Cause, ...] = ()
    """Also seen in the same run, then the causes of the runs before it, newest first."""


@dataclass(frozen=True, slots=True)
class UnitResult:
    """How the manager says that a run ended (`Result`, `ExecMainCode`, `ExecMainStatus`)."""

    result: str
    """systemd's word: `success`, `exit-code`, `signal`, `core-dump`, `oom-kill`, `timeout`, …"""
    exit_status: int | None = None
    signal: int | None = None
