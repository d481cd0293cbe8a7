"""The steps of a deployment on real hosts: what push, restart and probe say, in the words of a deployment."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from dflashtui.errors import ActionRefused, DflashError
from dflashtui.model.action import UnitAction, Verb
from dflashtui.model.deploy import StepEnd, StepState
from dflashtui.model.probe import Verdict
from dflashtui.model.push import Outcome
from dflashtui.ops.diff import Layer, LayerState, unit_diff
from dflashtui.ops.probe import Probe
from dflashtui.ops.probe_report import exit_code, result_lines
from dflashtui.ops.probe_wanted import wanted_of
from dflashtui.ops.push import Terms, new_change, wanted_text
from dflashtui.ops.pushing import PushJob, look, open_pusher, push_all, refusal, unchanged
from dflashtui.ops.remedy import remedies_on
from dflashtui.ops.rollback import wanted_before
from dflashtui.ops.units import act

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from dflashtui.config.model import Config
    from dflashtui.fleet.base import Fleet
    from dflashtui.model.action import ActionResult
    from dflashtui.model.probe import ProbeResult, ProbeUpdate
    from dflashtui.model.push import PushResult
    from dflashtui.ops.audit import Audit
    from dflashtui.ops.evidence import Evidence
    from dflashtui.ops.overlay import OverlayFiles
    from dflashtui.ops.pushing import Seen
    from dflashtui.ops.render import Rendered

    Preflight = Callable[[str], Awaitable[StepEnd]]

REMEDY_LIMIT_SECONDS = 15.0
UNDO_MARGIN_SECONDS = 300.0
"""Beyond the probe's own limit: push, restart, and a console that is slow to say that all is well."""
PUSHED = {
    Outcome.DONE: StepState.DONE,
    Outcome.UNCHANGED: StepState.SKIPPED,
    Outcome.UNKNOWN: StepState.UNKNOWN,
}
"""Every other outcome is a failure."""
PROBED = {
    Verdict.READY: StepState.DONE,
    Verdict.LOADING: StepState.LOADING,
    Verdict.UNKNOWN: StepState.UNKNOWN,
}
ACTED = {True: StepState.DONE, False: StepState.FAILED, None: StepState.UNKNOWN}


@dataclass(frozen=True, slots=True)
class Setting:
    """What a deployment works with."""

    fleet: Fleet
    config: Config
    audit: Audit
    evidence: Evidence
    unit: str
    texts: Mapping[str, Rendered]
    """By host."""
    seen: Mapping[str, Seen]
    """How each host stood when a person said yes."""
    overlays: tuple[OverlayFiles, ...] = ()
    force: bool = False
    arms_undo: bool = False
    read_only: bool = False
    limit_seconds: float | None = None
    preflight: Preflight | None = None


@dataclass(slots=True)
class _Host:
    """What is remembered of one host on its way."""

    change: str = field(default_factory=new_change)
    is_armed: bool = False
    runs_already: bool = False
    """With the text that was asked for."""
    was_absent: bool = False
    """There was no such unit before."""


class RealMeans:
    """See `Means`."""

    def __init__(self, setting: Setting) -> None:
        self._s = setting
        self._hosts = {host: _Host() for host in setting.texts}

    async def preflight(self, host: str) -> StepEnd:
        """See `Means`."""
        if self._s.preflight is None:
            return StepEnd(state=StepState.SKIPPED, words="not asked for")
        if refused := self._refused(host):
            return refused
        return await self._s.preflight(host)

    async def push(self, host: str) -> StepEnd:
        """Armed first, where the host shall be able to undo it by itself."""
        mine, job = self._hosts[host], self._job(host)
        if refused := self._refused(host):
            return refused
        if (same := unchanged(job, self._s.seen[host])) is not None:
            mine.runs_already = self._runs_it(host)
            return StepEnd(state=StepState.SKIPPED, words=_told(same), lines=same.notes)
        try:
            timer = await self._arm(host) if self._s.arms_undo else None
        except DflashError as failure:
            return StepEnd(state=StepState.FAILED, words=f"no undo could be armed: {failure}; nothing was pushed")
        result = await self._pushed(job)
        if PUSHED.get(result.outcome, StepState.FAILED) is StepState.FAILED:
            await self.settle(host)
        armed = (f"unless it is confirmed, the host undoes it by itself: {timer}",) if timer and mine.is_armed else ()
        return _push_end(result, armed)

    def _refused(self, host: str) -> StepEnd | None:
        """Before anything is sent: an undo that is armed is a change, too."""
        why = refusal(self._job(host), self._s.fleet, self._s.audit, read_only=self._s.read_only)
        return StepEnd(state=StepState.FAILED, words=why) if why else None

    async def start(self, host: str, restarted: Callable[[StepEnd], None], under_way: Callable[[str], None]) -> StepEnd:
        """See `Means`. A unit that runs with the text already is not restarted, only asked whether it is ready."""
        mine = self._hosts[host]
        if mine.was_absent:
            return StepEnd(state=StepState.SKIPPED, words="there was no such unit before: stopped and removed")
        if mine.runs_already:
            restarted(StepEnd(state=StepState.SKIPPED, words="it runs with this text already"))
        probe = self._probe(host, under_way, will_start=not mine.runs_already)
        result = await (probe.run() if mine.runs_already else self._restarted(host, probe, restarted))
        return await self._probed(host, result)

    async def put_back(self, host: str) -> StepEnd:
        """The text before this deployment's push; a unit that did not exist is stopped and removed."""
        mine = self._hosts[host]
        mine.runs_already = False
        entry = self._s.config.host(host)
        try:
            seen = await look(self._s.fleet, entry, self._s.unit)
            wanted = wanted_before(seen.look)
        except (DflashError, ActionRefused) as failure:
            return StepEnd(state=StepState.FAILED, words=str(failure))
        mine.was_absent = wanted.has_file and wanted.sha256 is None
        if mine.was_absent and (stopped := await self.stop(host)).state is not StepState.DONE:
            return stopped
        terms = Terms(force=True, seen_sha256=seen.look.target.sha256)
        return _push_end(await self._pushed(PushJob(entry, wanted, terms)))

    async def settle(self, host: str) -> str | None:
        """Call off the host's own undo."""
        mine = self._hosts[host]
        if not mine.is_armed:
            return None
        mine.is_armed = False
        try:
            async with open_pusher(self._s.fleet, self._s.config.host(host)) as pusher:
                is_off = await pusher.disarm_undo(mine.change)
        except DflashError as failure:
            return f"the host's own undo could not be called off, it may still fire: {failure}"
        return None if is_off else "the host's own undo has fired already: the old text is back"

    async def stop(self, host: str) -> StepEnd:
        """See `Means`."""
        result = await self._acted(host, Verb.STOP)
        return _acted_end(result)

    def _job(self, host: str) -> PushJob:
        text, look_ = self._s.texts[host], self._s.seen[host].look
        terms = Terms(force=self._s.force, seen_sha256=look_.target.sha256, change=self._hosts[host].change)
        wanted = wanted_text(host, self._s.unit, text.text, text.origin)
        return PushJob(self._s.config.host(host), wanted, terms, self._s.overlays)

    def _runs_it(self, host: str) -> bool:
        seen = self._s.seen[host]
        layers = unit_diff(self._s.texts[host], seen.look, seen.overlays).layers
        return any(one.layer is Layer.RUNNING and one.state is LayerState.SAME for one in layers)

    async def _arm(self, host: str) -> str:
        limit = wanted_of(self._s.config, host, self._s.unit, self._s.limit_seconds).limit_seconds
        async with open_pusher(self._s.fleet, self._s.config.host(host)) as pusher:
            mine = self._hosts[host]
            timer = await pusher.arm_undo(mine.change, limit + UNDO_MARGIN_SECONDS, restart=self._s.unit)
            mine.is_armed = True
            return timer

    async def _pushed(self, job: PushJob) -> PushResult:
        results = push_all([job], self._s.fleet, self._s.audit, lambda _host, _step: None, read_only=self._s.read_only)
        (result,) = [one async for one in results]
        return result

    async def _acted(self, host: str, verb: Verb) -> ActionResult:
        action = UnitAction(verb=verb, host=host, unit=self._s.unit, manager=self._s.config.host(host).manager)
        results = act([action], self._s.fleet, self._s.audit, read_only=self._s.read_only)
        (result,) = [one async for one in results]
        return result

    def _probe(self, host: str, under_way: Callable[[str], None], *, will_start: bool) -> Probe:
        wanted = wanted_of(self._s.config, host, self._s.unit, self._s.limit_seconds)
        return Probe(self._s.fleet, wanted, partial(_pass_on, under_way), self._s.evidence, will_start=will_start)

    async def _restarted(self, host: str, probe: Probe, restarted: Callable[[StepEnd], None]) -> ProbeResult:
        """The probe watches before the restart is asked for: nothing of the run is missed."""
        asked: asyncio.Future[ActionResult] = asyncio.get_running_loop().create_future()
        async with asyncio.TaskGroup() as group:
            watching = group.create_task(probe.run(asked))
            result = await self._acted(host, Verb.RESTART)
            restarted(_acted_end(result))
            asked.set_result(result)
        return watching.result()

    async def _probed(self, host: str, result: ProbeResult) -> StepEnd:
        state = PROBED.get(result.verdict, StepState.FAILED)
        words = f"{result.verdict.value}: {result.words}"
        return StepEnd(state=state, words=words, lines=tuple(await self._lines(host, result)), probe=result)

    async def _lines(self, host: str, result: ProbeResult) -> list[str]:
        """The cause and what to do about it, for a start that was no success."""
        told = [] if result.verdict is Verdict.READY else list(result_lines(result))
        if result.cause is None or not exit_code(result):
            return told
        try:
            async with asyncio.timeout(REMEDY_LIMIT_SECONDS):
                xids = self._s.fleet.snapshot(host).xids
                found = await remedies_on(self._s.fleet, self._s.config, host, self._s.unit, result.cause, xids)
        except TimeoutError:
            return told
        return [*told, *(f"do: {one.title}" + (f": {one.command}" if one.command else "") for one in found)]


def _pass_on(under_way: Callable[[str], None], update: ProbeUpdate) -> None:
    """A cause is told in the moment that it is known; the verdict waits until all lines have come."""
    if update.result is not None:
        under_way(update.result.cause.in_words if update.result.cause else update.result.words)
    elif update.suspected is not None:
        under_way(f"suspected: {update.suspected.in_words}")
    else:
        under_way(update.words)


def _push_end(result: PushResult, more: Sequence[str] = ()) -> StepEnd:
    state = PUSHED.get(result.outcome, StepState.FAILED)
    verified = tuple(f"verify: {one}" for one in result.verification)
    return StepEnd(state=state, words=_told(result), lines=(*more, *result.notes, *verified))


def _told(result: PushResult) -> str:
    return result.message.removeprefix(f"{result.host}: {result.unit}: ")


def _acted_end(result: ActionResult) -> StepEnd:
    words = result.result if result.ok else result.message.removeprefix(f"{result.action.host}: ")
    return StepEnd(state=ACTED[result.ok], words=words)
