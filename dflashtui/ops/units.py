"""Actions on units: checked below the screen, in waves, each with its audit line."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from datetime import UTC, datetime
from time import monotonic
from typing import TYPE_CHECKING, Protocol

from dflashtui.errors import ActionRefused
from dflashtui.fleet.results import failed_result
from dflashtui.model.action import ActionResult
from dflashtui.ops.waves import Waves
from dflashtui.source.systemd_names import is_unit_name

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from dflashtui.model.action import UnitAction
    from dflashtui.model.host import HostSnapshot
    from dflashtui.ops.audit import Audit

SKIPPED = "skipped"
CANCELLED = "cancelled"


class Performer(Protocol):
    """What is needed of a fleet."""

    def snapshot(self, host: str) -> HostSnapshot:
        """See `Fleet`."""

    async def perform(self, action: UnitAction) -> ActionResult:
        """See `Fleet`."""


async def act(
    actions: Sequence[UnitAction], fleet: Performer, audit: Audit, *, read_only: bool, stop: asyncio.Event | None = None
) -> AsyncIterator[ActionResult]:
    """Carry out actions and give each result as it comes: the first host alone, then the others, at most 8 at once.

    One refusal beforehand (read-only, unit name, no audit file), and nothing is sent at all. After a failure, and
    after `stop` was set, what has not started is skipped; what runs goes on. Closing the iterator cancels what runs,
    which is recorded as unknown.
    """
    refusals = [_refusal(action, fleet, audit, read_only=read_only) for action in actions]
    if any(refusals):
        for action, refusal in zip(actions, refusals, strict=True):
            yield refusal or _skipped(action)
        return
    run = Waves(
        host_of=lambda action: action.host,
        one=lambda action: _one(action, fleet, audit),
        skipped=_skipped,
        is_ok=lambda result: result.ok is True,
        stop=stop or asyncio.Event(),
    )
    async with aclosing(run.run(actions)) as results:
        async for result in results:
            yield result


def _refusal(action: UnitAction, fleet: Performer, audit: Audit, *, read_only: bool) -> ActionResult | None:
    try:
        _check(action, fleet, audit, read_only=read_only)
    except ActionRefused as refused:
        return failed_result(action, refused, datetime.now(UTC), 0.0)
    return None


def _check(action: UnitAction, fleet: Performer, audit: Audit, *, read_only: bool) -> None:
    if read_only:
        raise ActionRefused(f"{action.host}: {action.command}: refused: this console is read-only")
    if not is_unit_name(action.unit):
        raise ActionRefused(f"{action.host}: {action.unit!r} is no unit name")
    try:
        snapshot = fleet.snapshot(action.host)
    except KeyError:
        raise ActionRefused(f"{action.host}: no such host in the inventory") from None
    if snapshot.read_only:
        raise ActionRefused(f"{action.host}: {action.command}: refused: group {snapshot.group} is read-only")
    audit.require()


async def _one(action: UnitAction, fleet: Performer, audit: Audit) -> ActionResult:
    at, began = datetime.now(UTC), monotonic()
    try:
        result = await fleet.perform(action)
    except asyncio.CancelledError:
        audit.record(_cancelled(action, at, monotonic() - began))
        raise
    return _recorded(audit, result)


def _recorded(audit: Audit, result: ActionResult) -> ActionResult:
    """The result; trouble with the audit file is said loudly in its message."""
    trouble = audit.record(result)
    if trouble is None:
        return result
    return result.model_copy(update={"message": f"NOT AUDITED ({trouble}) · {result.message}"})


def _skipped(action: UnitAction) -> ActionResult:
    message = f"{action.host}: {action.command}: not started: stopped, or an earlier action failed"
    return ActionResult(
        action=action, ok=False, result=SKIPPED, message=message, started_at=datetime.now(UTC), duration_seconds=0.0
    )


def _cancelled(action: UnitAction, at: datetime, seconds: float) -> ActionResult:
    message = f"{action.host}: {action.command}: no longer waited for; the host may still carry it out"
    return ActionResult(
        action=action, ok=None, result=CANCELLED, message=message, started_at=at, duration_seconds=seconds
    )
