"""Pushes to several hosts: refused below the screen where need be, in waves, looked up when cut, each audited."""

from __future__ import annotations

import asyncio
import socket
from contextlib import aclosing
from datetime import UTC, datetime
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple, Protocol

from dflashtui.errors import ActionRefused, DflashError
from dflashtui.model.host import LinkState
from dflashtui.model.push import Outcome, PushResult
from dflashtui.ops.audit import who
from dflashtui.ops.overlay import OverlayFiles, look_at_overlay, overlay_doubts
from dflashtui.ops.push import NOTHING, NOTHING_TO_DO, Push, Terms, Wanted, resolve
from dflashtui.ops.push_plan import push_plan
from dflashtui.ops.waves import Waves
from dflashtui.source.pusher import Pusher, pusher
from dflashtui.source.systemd_names import is_unit_name

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Sequence
    from contextlib import AbstractAsyncContextManager

    from dflashtui.config.model import Host
    from dflashtui.model.host import HostSnapshot
    from dflashtui.model.overlay import OverlayLook
    from dflashtui.model.push import UnitLook
    from dflashtui.ops.audit import Audit
    from dflashtui.ops.push_plan import PushPlan
    from dflashtui.transport.base import Stream

BACK_SECONDS = 60.0
"""How long a lost host is waited for, to ask it what became of a push."""
ASK_AGAIN_SECONDS = 0.2
LOOKS_AT_ONCE = 16


class Pushed(Protocol):
    """What is needed of a fleet."""

    def snapshot(self, host: str) -> HostSnapshot:
        """See `Fleet`."""

    def command(self, host: str, argv: Sequence[str]) -> AbstractAsyncContextManager[Stream]:
        """See `Fleet`."""

    def refresh(self, host: str | None = None) -> None:
        """See `Fleet`."""


class PushJob(NamedTuple):
    """What shall be done on one host."""

    host: Host
    wanted: Wanted
    terms: Terms = Terms()
    overlays: tuple[OverlayFiles, ...] = ()


class Seen(NamedTuple):
    """How a unit and its overlays stand on a host."""

    look: UnitLook
    overlays: tuple[OverlayLook, ...]


def console() -> str:
    """Who asks, for locks and records on hosts: `root at laptop`."""
    return f"{who()} at {socket.gethostname()}"


def open_pusher(fleet: Pushed, host: Host) -> AbstractAsyncContextManager[Pusher]:
    """The shipped pusher on a host of the fleet. Raises `DflashError`."""
    start = partial(fleet.command, host.name)
    return pusher(start, host.name, manager=host.manager, become=host.become, who=console())


async def look(fleet: Pushed, host: Host, unit: str, overlays: Sequence[OverlayFiles] = ()) -> Seen:
    """How they stand. Changes nothing. Raises `DflashError`."""
    async with open_pusher(fleet, host) as opened:
        found = await opened.look(unit)
        return Seen(found, tuple([await look_at_overlay(opened, one) for one in overlays]))


async def kept_text(fleet: Pushed, host: Host, unit: str, sha256: str) -> str:
    """A text that the host keeps. Raises `DflashError`."""
    async with open_pusher(fleet, host) as opened:
        return await opened.kept_text(unit, sha256)


async def look_everywhere(
    fleet: Pushed, hosts: Sequence[Host], unit: str, overlays: Sequence[OverlayFiles] = ()
) -> dict[str, Seen | DflashError]:
    """By host, each as soon as it can be asked; what cannot be seen is an error in its place."""

    async def one(host: Host) -> Seen | DflashError:
        async with room:
            try:
                return await look(fleet, host, unit, overlays)
            except DflashError as failure:
                return failure

    room = asyncio.Semaphore(LOOKS_AT_ONCE)
    found = await asyncio.gather(*(one(host) for host in hosts))
    return {host.name: seen for host, seen in zip(hosts, found, strict=True)}


def unchanged(job: PushJob, seen: Seen) -> PushResult | None:
    """The result at once, where there is nothing to do: nothing is sent."""
    plan = _plan(job, seen)
    if plan.has_work or plan.refusals or any(look.changed for look in seen.overlays):
        return None
    result = _not_begun(job, Outcome.UNCHANGED, NOTHING_TO_DO)
    return result.model_copy(update={"notes": plan.notes})


def _plan(job: PushJob, seen: Seen) -> PushPlan:
    wanted = job.wanted
    return push_plan(seen.look, wanted.text, wanted.sha256) if wanted.has_file else NOTHING


def doubts(job: PushJob, seen: Seen) -> tuple[str, ...]:
    """What only a person can decide, with the host's name."""
    plan = _plan(job, seen)
    words = (*plan.doubts, *(doubt for look in seen.overlays for doubt in overlay_doubts(look)))
    return tuple(f"{job.host.name}: {one}" for one in words)


async def push_all(
    jobs: Sequence[PushJob],
    fleet: Pushed,
    audit: Audit,
    tell: Callable[[str, str], None],
    *,
    read_only: bool,
    stop: asyncio.Event | None = None,
) -> AsyncGenerator[PushResult, None]:
    """Carry them out and give each result as it comes: the first host alone, then the others, at most 8 at once.

    `tell` hears host and step. One refusal beforehand (read-only, unit name, no audit file), and nothing is sent.
    After a failure what has not begun is skipped. A push whose link was lost is looked up on its host later on:
    nothing is repeated.
    """
    refusals = [refusal(job, fleet, audit, read_only=read_only) for job in jobs]
    if any(refusals):
        for job, words in zip(jobs, refusals, strict=True):
            outcome = Outcome.REFUSED if words else Outcome.SKIPPED
            yield _not_begun(job, outcome, words or "not begun: refused for another host")
        return
    waves = Waves(
        host_of=lambda job: job.host.name,
        one=partial(_one, fleet=fleet, audit=audit, tell=tell),
        skipped=lambda job: _not_begun(job, Outcome.SKIPPED, "not begun: stopped, or an earlier host failed"),
        is_ok=lambda result: result.ok is True,
        stop=stop or asyncio.Event(),
    )
    async with aclosing(waves.run(jobs)) as results:
        async for result in results:
            yield result


def refusal(job: PushJob, fleet: Pushed, audit: Audit, *, read_only: bool) -> str | None:
    """Why nothing may be sent to that host, if so."""
    if not is_unit_name(job.wanted.unit):
        return f"{job.wanted.unit!r} is no unit name"
    if job.terms.dry_run:
        return None
    if read_only:
        return "refused: this console is read-only"
    try:
        snapshot = fleet.snapshot(job.host.name)
        audit.require()
    except KeyError:
        return "no such host in the inventory"
    except ActionRefused as refused:
        return str(refused)
    return f"refused: group {snapshot.group} is read-only" if snapshot.read_only else None


async def _one(job: PushJob, *, fleet: Pushed, audit: Audit, tell: Callable[[str, str], None]) -> PushResult:
    at, began = datetime.now(UTC), monotonic()
    try:
        push = Push(job.wanted, job.terms, job.overlays, partial(tell, job.host.name))
        result = await push.run(partial(open_pusher, fleet, job.host))
        if result.outcome is Outcome.UNKNOWN:
            result = await _looked_up(job, result, fleet)
    except asyncio.CancelledError:
        words = "no longer waited for; the host ends it or takes it back: look there"
        cut = _not_begun(job, Outcome.UNKNOWN, words)
        audit.record_push(cut.model_copy(update={"started_at": at, "duration_seconds": monotonic() - began}))
        raise
    if job.terms.dry_run:
        return result
    trouble = audit.record_push(result)
    return _loudly(result, trouble) if trouble else result


def _loudly(result: PushResult, trouble: str) -> PushResult:
    return result.model_copy(update={"message": f"NOT AUDITED ({trouble}) · {result.message}"})


async def _looked_up(job: PushJob, result: PushResult, fleet: Pushed) -> PushResult:
    """The host's own word, as soon as it can be asked again; else the result as it is."""
    fleet.refresh(job.host.name)
    try:
        async with asyncio.timeout(BACK_SECONDS):
            while True:
                while fleet.snapshot(job.host.name).link.state is not LinkState.UP:  # noqa: ASYNC110 - see subscribe
                    await asyncio.sleep(ASK_AGAIN_SECONDS)
                try:
                    return await resolve(partial(open_pusher, fleet, job.host), result)
                except DflashError as failure:
                    if not failure.transient:
                        return result
                await asyncio.sleep(ASK_AGAIN_SECONDS)
    except TimeoutError:
        return result


def _not_begun(job: PushJob, outcome: Outcome, words: str) -> PushResult:
    wanted = job.wanted
    return PushResult(
        host=job.host.name,
        unit=wanted.unit,
        action=wanted.action,
        outcome=outcome,
        message=f"{job.host.name}: {wanted.unit}: {words}",
        is_dry_run=job.terms.dry_run,
        started_at=datetime.now(UTC),
        duration_seconds=0.0,
    )
