"""What came of an action, in words. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflashtui.errors import ActionDenied, ActionRefused, CommandFailed, SourceUnavailable, Unreachable
from dflashtui.model.action import ActionResult

if TYPE_CHECKING:
    from datetime import datetime

    from dflashtui.errors import DflashError
    from dflashtui.model.action import UnitAction

JOB_WORDS = {
    "done": "done; whether the service answers is another question",
    "canceled": "cancelled by someone else: another job for this unit took its place",
    "timeout": "systemd waited longer than the unit's time limit",
    "failed": "the unit failed; its log says why",
    "dependency": "a unit that it requires failed",
    "skipped": "a condition of the unit was not met, or it cannot do this",
    "invalid": "this unit cannot do that",
    "assert": "an assertion of the unit was not met",
    "unsupported": "this kind of unit is not supported on that host",
    "collected": "the unit was unloaded meanwhile",
    "once": "the unit runs only once for each boot",
}


def job_result(action: UnitAction, result: str, via: str, started_at: datetime, seconds: float) -> ActionResult:
    """The manager finished the job (`JobRemoved`, org.freedesktop.systemd1(5))."""
    return ActionResult(
        action=action,
        ok=result == "done",
        result=result,
        message=JOB_WORDS.get(result, f"the manager said {result}"),
        via=via,
        started_at=started_at,
        duration_seconds=seconds,
    )


def failed_result(action: UnitAction, failure: DflashError, started_at: datetime, seconds: float) -> ActionResult:
    """The action was refused, never sent, or nobody knows."""
    ok, result = _verdict(failure)
    return ActionResult(
        action=action,
        ok=ok,
        result=result,
        message=str(failure),
        started_at=started_at,
        duration_seconds=seconds,
    )


def _verdict(failure: DflashError) -> tuple[bool | None, str]:
    match failure:
        case ActionDenied():
            return False, "denied"
        case CommandFailed() | ActionRefused():
            return False, "refused"
        case SourceUnavailable() | Unreachable():
            return False, "not sent"
        case _:  # the link ended in between
            return None, "unknown"
