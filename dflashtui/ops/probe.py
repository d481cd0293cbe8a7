"""One start of one unit, watched until it is ready or dead: four witnesses in one race (architecture, part 4).

The bus tells states, the journal lines, the engine's rule whether it answers, the kernel of Xids and kills. Nothing
waits for a fixed time: the first decisive word wins, and a deadline ends it as "still loading".
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from dflashtui.errors import DflashError
from dflashtui.model.host import LinkState
from dflashtui.model.probe import GoodStart, ProbeResult, Verdict
from dflashtui.ops import probe_words as words
from dflashtui.ops.probe_facts import Facts, exit_of
from dflashtui.ops.probe_judge import Decision, Judge
from dflashtui.ops.probe_logs import RunLogs
from dflashtui.ops.probe_news import News, State, doing
from dflashtui.ops.probe_wanted import Timers

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from dflashtui.fleet.base import Fleet
    from dflashtui.model.action import ActionResult
    from dflashtui.model.finding import Cause
    from dflashtui.model.host import HostSnapshot
    from dflashtui.model.unit import UnitStatus
    from dflashtui.ops.evidence import Evidence
    from dflashtui.ops.probe_log import RunLog
    from dflashtui.ops.probe_news import Tell
    from dflashtui.ops.probe_wanted import Wanted

SETTLE_SECONDS = 2.0
"""How long a service that cannot be asked has to run, for want of any better evidence."""
JOB_ECHO_SECONDS = 0.5
"""Within which a run that a finished job began is told by the manager's signals."""
ATTEMPTED = frozenset({LinkState.UP, LinkState.CONNECTING, LinkState.UNREACHABLE})
"""Links that are up, or come up by waiting."""


class Probe:
    """Made before the start is asked for, so that nothing of it is missed; run once."""

    def __init__(
        self,
        fleet: Fleet,
        wanted: Wanted,
        tell: Tell,
        evidence: Evidence,
        *,
        will_start: bool = False,
        timers: Timers | None = None,
    ) -> None:
        """`will_start`: the run to watch is yet to begin; `run` is given what comes of asking for it."""
        self._fleet = fleet
        self._wanted = wanted
        self._will_start = will_start
        self._timers = timers or Timers()
        self._evidence = evidence
        self._usual = evidence.good_start(wanted.host, wanted.unit)
        snapshot = fleet.snapshot(wanted.host)
        self._judge = Judge(snapshot.unit(wanted.unit), will_start=will_start, is_server=wanted.is_server)
        self._facts = Facts(wanted.unit, wanted.gpus, snapshot)
        self._logs = RunLogs(fleet, wanted, self._timers)
        self._news = News(wanted, tell, self._timers)
        self._decided: asyncio.Future[Decision] | None = None
        self._is_unprovable = asyncio.Event()
        self._ask_now: Callable[[], None] = lambda: None

    async def run(self, started: asyncio.Future[ActionResult] | None = None) -> ProbeResult:
        """Watch until there is a verdict. `started`: what came of the action, once that is known.

        Every piece of news goes to `tell`, a failure twice: with the lines that are there at once, and when no more
        come. Trouble with the host is news or a verdict, never an exception.
        """
        with self._fleet.hurry(self._wanted.host, self._wanted.unit) as self._ask_now:
            decision = await self._race(started)
        if decision.is_end and self._judge.run_id:
            return await self._post_mortem(decision, self._judge.run_id)
        if decision.words == words.SKIPPED:
            decision = replace(decision, words=await self._logs.skipped() or decision.words)
        result = self._result(decision)
        if decision.verdict is Verdict.READY:
            self._keep(result)
        return self._news.result(decision.witness, result)

    async def _race(self, started: asyncio.Future[ActionResult] | None) -> Decision:
        self._decided = asyncio.get_running_loop().create_future()
        async with asyncio.TaskGroup() as group:
            witnesses = [self._hear_bus(), self._hear_journal(), self._hear_clock(), self._settle()]
            if started is not None:
                witnesses.append(self._hear_job(started))
            tasks = [group.create_task(witness) for witness in witnesses]
            decision = await self._decided
            for task in tasks:
                task.cancel()
        return decision

    def _decide(self, decision: Decision | None) -> None:
        """The first decision stands."""
        if decision and self._decided and not self._decided.done():
            self._decided.set_result(decision)

    async def _hear_bus(self) -> None:
        """States, readiness and the kernel's faults, as they come into the host's snapshot."""
        async with self._fleet.subscribe() as changes:
            async for change in changes:
                if change.host == self._wanted.host and self._is_reached(change.snapshot):
                    self._look(change.snapshot)

    def _is_reached(self, snapshot: HostSnapshot) -> bool:
        """Values of a host that is not reached are old: they decide nothing."""
        link = snapshot.link
        self._news.linked(link.state, link.error)
        if link.state not in ATTEMPTED:
            self._decide(Decision(Verdict.UNKNOWN, link.error or link.state.value, "link", self._judge.unit))
        if link.state is LinkState.UP and self._facts.is_rebooted(snapshot):
            self._decide(Decision(Verdict.STOPPED, words.REBOOTED, unit=self._judge.unit, is_end=True))
        return link.state is LinkState.UP

    def _look(self, snapshot: HostSnapshot) -> None:
        unit = snapshot.unit(self._wanted.unit)
        if unit is None:
            return
        decision = self._judge.look(unit)
        log = self._log()
        self._facts.take(snapshot, log.pids if log else frozenset())
        for text, at in self._facts.kernel_news() if log else ():
            self._logs.of(self._judge.run_id or "").from_kernel(text, at)
        self._tell_state("bus")
        if self._judge.is_unprovable:
            self._is_unprovable.set()
        self._decide(decision)

    async def _hear_journal(self) -> None:
        """Lines while it lives: phases, and early signs of what will end it."""
        async with self._fleet.follow(self._wanted.host, self._wanted.unit, lines=0) as batches:
            if self._judge.run_id and not self._judge.awaits_start:
                await self._logs.read(self._judge.run_id)
                self._hear_log()
            async for batch in batches:
                self._logs.feed(batch)
                self._hear_log()

    def _hear_log(self) -> None:
        log = self._log()
        if log is None:
            return
        if log.says_ready and not self._judge.says_ready:
            self._judge.says_ready = True
            self._ask_now()
            self._decide(self._judge.look(self._judge.unit) if self._judge.unit else None)
        self._tell_state("journal")

    async def _hear_clock(self) -> None:
        await self._timers.sleep(self._wanted.limit_seconds)
        unit = self._judge.unit
        if self._news.link is not LinkState.UP:
            self._decide(Decision(Verdict.UNKNOWN, words.NO_LINK, "link", unit))
        sentence = words.still_loading(self._state().words, unit.readiness_detail if unit else None)
        self._decide(Decision(Verdict.LOADING, sentence, "clock", unit))

    async def _settle(self) -> None:
        """A service that cannot be asked: it runs for a while, that is all there is to know."""
        await self._is_unprovable.wait()
        await self._timers.sleep(SETTLE_SECONDS)
        self._decide(self._judge.settled())

    async def _hear_job(self, started: asyncio.Future[ActionResult]) -> None:
        """What came of asking for the start."""
        result = await asyncio.shield(started)
        self._decide(self._judge.refused(result))
        while self._judge.awaits_start:
            await self._timers.sleep(JOB_ECHO_SECONDS)
            unit = await self._unit_as_before()
            if unit and self._judge.awaits_start:
                self._decide(self._judge.nothing_began(unit, result))

    async def _unit_as_before(self) -> UnitStatus | None:
        """Ask the manager itself: a unit that stayed as it was sends no news. `None`: it is in another run."""
        host, name = self._wanted.host, self._wanted.unit
        try:
            properties = await self._fleet.properties(host, name)
        except DflashError:
            return None
        unit = self._fleet.snapshot(host).unit(name)
        is_same = unit is not None and properties.get("InvocationID", "") == (unit.invocation_id or "")
        return unit if is_same else None

    async def _post_mortem(self, decision: Decision, run_id: str) -> ProbeResult:
        """The cause: at once, and again when all lines have arrived."""
        await self._logs.read(run_id)
        first = self._result(self._by_log(decision, self._logs.of(run_id)))
        self._news.result(decision.witness, first.model_copy(update={"is_complete": False}))
        await self._logs.read_the_rest(run_id)
        final = self._result(self._by_log(decision, self._logs.of(run_id)))
        return self._news.result("journal", final.model_copy(update={"elapsed_seconds": first.elapsed_seconds}))

    def _by_log(self, decision: Decision, log: RunLog) -> Decision:
        """What the log adds to the manager's last word."""
        if log.stop_was_asked and decision.verdict is not Verdict.CRASH_LOOPING:
            said = decision.words if decision.superseded_by else words.STOPPED_BY_SOMEBODY
            return replace(decision, verdict=Verdict.STOPPED, words=said)
        if decision.words == words.SILENT_END and not log.count:
            return replace(decision, verdict=Verdict.STOPPED, words=words.LOG_IS_GONE)
        return decision

    def _log(self) -> RunLog | None:
        unit = self._judge.unit
        return self._logs.of(self._judge.run_id, unit.started_at if unit else None) if self._judge.run_id else None

    def _state(self) -> State:
        log = self._log()
        phases = log.phases(self._usual) if log else ()
        phase = phases[-1] if phases else None
        suspected = log.suspected() if log else None
        return State(doing(self._judge.unit, phase), phase, suspected, self._facts.neighbours)

    def _tell_state(self, witness: str) -> None:
        self._news.state(witness, self._state())

    def _result(self, decision: Decision) -> ProbeResult:
        log, unit = self._log(), decision.unit
        phases = log.phases(self._usual, _ended_at(decision, log)) if log else ()
        exit_code, signal = exit_of(unit) if decision.is_end else (None, None)
        cause, others = _cause(decision, log) if log else (None, ())
        problem = f" (its journal: {self._logs.problem})" if self._logs.problem else ""
        return ProbeResult(
            host=self._wanted.host,
            unit=self._wanted.unit,
            verdict=decision.verdict,
            words=decision.words + problem,
            elapsed_seconds=self._news.elapsed_seconds,
            invocation_id=self._judge.run_id,
            exit_code=exit_code,
            signal=signal,
            cause=cause,
            others=others,
            phase=phases[-1] if phases else None,
            phases=phases,
            usual_seconds=self._usual.seconds if self._usual else None,
            life=None if decision.is_end else self._facts.life(log.last_line_at if log else None),
            superseded_by=decision.superseded_by,
            neighbours=self._facts.neighbours,
            lines=tuple(log.lines) if log else (),
        )

    def _keep(self, result: ProbeResult) -> None:
        """Later starts are compared with this one, if it was seen from its beginning."""
        if not result.phases:
            return
        last = result.phases[-1]
        by_log = last.began_seconds + (last.seconds or 0.0)
        seconds = result.elapsed_seconds if self._will_start else by_log
        start = GoodStart(at=self._timers.now(), seconds=seconds, phases=result.phases)
        self._evidence.keep(result.host, result.unit, start)


def _ended_at(decision: Decision, log: RunLog) -> datetime | None:
    """When the last phase ended, by the host's clock; `None`: it goes on."""
    if decision.is_end:
        return (decision.unit and decision.unit.exited_at) or log.last_line_at
    return log.last_line_at if decision.verdict is Verdict.READY else None


def _cause(decision: Decision, log: RunLog) -> tuple[Cause | None, tuple[Cause, ...]]:
    match decision.verdict:
        case Verdict.READY | Verdict.STOPPED:
            return None, ()
        case _ if decision.is_end:
            return log.concluded(decision.unit)
        case _:
            return log.suspected(), ()
