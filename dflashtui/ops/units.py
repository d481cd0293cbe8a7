"""Actions on units: checked below the screen, in waves, each with its audit line."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from time import monotonic
from typing import TYPE_CHECKING, Protocol

from dflashtui.errors import ActionRefused
from dflashtui.fleet.results import failed_result
from dflashtui.model.action import ActionResult
from dflashtui.source.systemd_names import is_unit_name

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from dflashtui.model.action import UnitAction
    from dflashtui.model.host import HostSnapshot
    from dflashtui.ops.audit import Audit

HOSTS_AT_ONCE = 8
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
    run = _Run(fleet, audit, stop or asyncio.Event())
    runner = asyncio.create_task(run.waves(actions))
    try:
        while (done := await run.results.get()) is not None:
            yield done
        await runner
    finally:
        runner.cancel()
        await asyncio.gather(runner, return_exceptions=True)


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


class _Run:
    """One run over several hosts."""

    def __init__(self, fleet: Performer, audit: Audit, stop: asyncio.Event) -> None:
        self.results: asyncio.Queue[ActionResult | None] = asyncio.Queue()
        self._fleet = fleet
        self._audit = audit
        self._stop = stop
        self._room = asyncio.Semaphore(HOSTS_AT_ONCE)

    async def waves(self, actions: Sequence[UnitAction]) -> None:
        """The first host, then the others; `None` in `results` is the end."""
        try:
            by_host: dict[str, list[UnitAction]] = {}
            for action in actions:
                by_host.setdefault(action.host, []).append(action)
            first, *others = by_host.values() or [[]]
            await self._host(first)
            async with asyncio.TaskGroup() as group:
                for host in others:
                    group.create_task(self._host(host))
        finally:
            self.results.put_nowait(None)

    async def _host(self, actions: Sequence[UnitAction]) -> None:
        async with self._room:
            for action in actions:
                result = _skipped(action) if self._stop.is_set() else await self._one(action)
                if result.ok is not True:
                    self._stop.set()
                self.results.put_nowait(result)

    async def _one(self, action: UnitAction) -> ActionResult:
        at, began = datetime.now(UTC), monotonic()
        try:
            result = await self._fleet.perform(action)
        except asyncio.CancelledError:
            self._audit.record(_cancelled(action, at, monotonic() - began))
            raise
        return _recorded(self._audit, result)


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
