"""One unit to its hosts, in waves: preflight, push, restart, probe; back again where that was asked for.

The steps themselves are `Means`; here stand their order and what a failure, or an interruption, does to the rest.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from itertools import islice
from time import monotonic
from typing import TYPE_CHECKING, Protocol

from dflashtui.model.deploy import FORWARD, HostDeploy, Outcome, Step, StepEnd, StepNews, StepState

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Sequence


GOOD = frozenset({StepState.DONE, StepState.SKIPPED})
STOPPED = "not started: stopped, or an earlier host failed"
INTERRUPTED = "not started: interrupted"
STAYS = "the host's own undo is called off, the new text stays: dflashtui rollback {unit} brings back the old one"
OUTCOMES = {
    StepState.FAILED: Outcome.FAILED,
    StepState.LOADING: Outcome.LOADING,
    StepState.UNKNOWN: Outcome.UNKNOWN,
}


class Means(Protocol):
    """What does the steps on a host. None of them raises `DflashError`: a failure is how a step ends."""

    async def preflight(self, host: str) -> StepEnd:
        """Look for faults; fatal ones fail the step."""

    async def push(self, host: str) -> StepEnd:
        """Put the text (and its overlays) there; `SKIPPED`: the host has it already."""

    async def start(self, host: str, restarted: Callable[[StepEnd], None], under_way: Callable[[str], None]) -> StepEnd:
        """Restart the unit and watch it until it is ready or dead.

        `restarted` is told how the restart itself went, `under_way` what goes on after it.
        """

    async def put_back(self, host: str) -> StepEnd:
        """The text that was there before the push."""

    async def settle(self, host: str) -> str | None:
        """Nothing has to be undone by the host itself any more. Gives what went wrong with that, if anything did."""

    async def stop(self, host: str) -> StepEnd:
        """Stop the unit there."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is wanted."""

    unit: str
    hosts: tuple[str, ...]
    wave: int | None = None
    """Hosts at once after the first one; `None`: all."""
    preflights: bool = True
    rolls_back: bool = False
    stops_on: tuple[str, ...] = ()
    """Hosts on which the unit is stopped once all of the others are ready."""


class Deploy:
    """One deployment. `tell` gets each row as it changes."""

    def __init__(self, plan: Plan, means: Means, tell: Callable[[HostDeploy], None]) -> None:
        self._plan = plan
        self._means = means
        self._tell = tell
        self._stop = asyncio.Event()
        self._interrupted = asyncio.Event()

    def interrupt(self) -> None:
        """Begin nothing more; what runs on a host comes to the end of its step, a probe is left."""
        self._interrupted.set()
        self._stop.set()

    async def run(self) -> tuple[HostDeploy, ...]:
        """Every host's row at its end, in the order of the plan."""
        rows: list[HostDeploy] = []
        for wave in _waves(self._plan.hosts, self._plan.wave):
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(self._host(host)) for host in wave]
            rows += [task.result() for task in tasks]
        if self._plan.stops_on and all(row.outcome is Outcome.READY for row in rows):
            rows += [await self._stop_old(host) for host in self._plan.stops_on]
        return tuple(rows)

    async def _host(self, host: str) -> HostDeploy:
        run = _HostRun(host, self._plan, self._means, self._tell, self._interrupted)
        row = run.skipped(STOPPED) if self._stop.is_set() else await run.run()
        if row.outcome is not Outcome.READY:
            self._stop.set()
        return row

    async def _stop_old(self, host: str) -> HostDeploy:
        run = _HostRun(host, self._plan, self._means, self._tell, self._interrupted, steps=(Step.STOP_OLD,))
        return await run.stop()


def _waves(hosts: Sequence[str], size: int | None) -> Iterator[tuple[str, ...]]:
    """The first host alone, then the others, `size` at once."""
    rest = iter(hosts)
    yield tuple(islice(rest, 1))
    while wave := tuple(islice(rest, size or len(hosts))):
        yield wave


class _HostRun:
    """One host on its way."""

    def __init__(
        self,
        host: str,
        plan: Plan,
        means: Means,
        tell: Callable[[HostDeploy], None],
        interrupted: asyncio.Event,
        steps: Sequence[Step] = FORWARD,
    ) -> None:
        self._host = host
        self._plan = plan
        self._means = means
        self._tell = tell
        self._interrupted = interrupted
        self._pushed = False
        self._row = HostDeploy(host=host, unit=plan.unit, steps=tuple(StepNews(step=step) for step in steps))

    def skipped(self, words: str) -> HostDeploy:
        """The row of a host that never began."""
        for news in self._row.steps:
            self._set(news.model_copy(update={"state": StepState.SKIPPED, "words": words}))
        return self._ended(Outcome.SKIPPED)

    async def run(self) -> HostDeploy:
        """Forward; and back, where that is wanted and something was changed."""
        outcome = await self._forward()
        if outcome in {Outcome.FAILED, Outcome.LOADING} and self._pushed and self._plan.rolls_back:
            outcome = await self._back(outcome)
        if self._pushed and outcome is not Outcome.UNKNOWN:
            await self._settled(outcome)
        return self._ended(outcome)

    async def _settled(self, outcome: Outcome) -> None:
        trouble = await self._means.settle(self._host)
        if trouble is None and outcome is Outcome.INTERRUPTED and self._plan.rolls_back:
            trouble = STAYS.format(unit=self._plan.unit)
        if trouble:
            self._add_line(Step.PUSH, trouble)

    async def stop(self) -> HostDeploy:
        """The one step of a host that the unit leaves."""
        end = await self._step(Step.STOP_OLD, self._means.stop(self._host))
        return self._ended(OUTCOMES.get(end.state, Outcome.STOPPED))

    async def _forward(self) -> Outcome:
        if self._plan.preflights:
            found = await self._step(Step.PREFLIGHT, self._means.preflight(self._host))
            if found.state not in GOOD:
                return self._left_at(found)
        else:
            self._set(StepNews(step=Step.PREFLIGHT, state=StepState.SKIPPED, words="not asked for"))
        if self._interrupted.is_set():
            return self._left_interrupted()
        pushed = await self._step(Step.PUSH, self._means.push(self._host))
        self._pushed = pushed.state is StepState.DONE
        if pushed.state not in GOOD:
            return self._left_at(pushed)
        return self._left_interrupted() if self._interrupted.is_set() else await self._started(Step.PROBE, Step.RESTART)

    async def _back(self, outcome: Outcome) -> Outcome:
        back = await self._step(Step.PUT_BACK, self._means.put_back(self._host))
        if back.state is not StepState.DONE:
            return Outcome.UNKNOWN if back.state is StepState.UNKNOWN else outcome
        again = await self._started(Step.PROBE_AGAIN, None)
        return Outcome.PUT_BACK if again is Outcome.READY else outcome

    async def _started(self, probe: Step, restart: Step | None) -> Outcome:
        """Restart and probe; the restart has a step of its own on the way forward."""
        began = monotonic()

        def restarted(end: StepEnd) -> None:
            if restart:
                self._set(_news(restart, end, monotonic() - began))

        def under_way(words: str) -> None:
            self._set(StepNews(step=probe, state=StepState.RUNNING, words=words))

        self._set(StepNews(step=restart or probe, state=StepState.RUNNING))
        end = await self._unless_interrupted(self._means.start(self._host, restarted, under_way))
        if restart and self._is_running(restart):
            self._set(_news(restart, end, monotonic() - began))
        self._set(_news(probe, end, monotonic() - began))
        if restart:
            self._row = self._row.model_copy(update={"probe": end.probe})
        return self._outcome(end)

    async def _unless_interrupted(self, starting: Awaitable[StepEnd]) -> StepEnd:
        """A start that is left goes on by itself on its host."""
        start = asyncio.ensure_future(starting)
        leave = asyncio.create_task(self._interrupted.wait())
        try:
            await asyncio.wait((start, leave), return_when=asyncio.FIRST_COMPLETED)
            if start.done():
                return start.result()
            return StepEnd(state=StepState.UNKNOWN, words="interrupted: no longer watched; the service goes on")
        finally:
            start.cancel()
            leave.cancel()
            await asyncio.gather(start, leave, return_exceptions=True)

    async def _step(self, step: Step, doing: Awaitable[StepEnd]) -> StepEnd:
        began = monotonic()
        self._set(StepNews(step=step, state=StepState.RUNNING))
        end = await doing
        self._set(_news(step, end, monotonic() - began))
        return end

    def _is_running(self, step: Step) -> bool:
        news = self._row.step(step)
        return news is not None and news.state is StepState.RUNNING

    def _left_at(self, end: StepEnd) -> Outcome:
        self._skip_rest("not started: the step before did not succeed")
        return OUTCOMES[end.state]

    def _left_interrupted(self) -> Outcome:
        self._skip_rest(INTERRUPTED)
        return Outcome.INTERRUPTED

    def _outcome(self, end: StepEnd) -> Outcome:
        if self._interrupted.is_set() and end.state is StepState.UNKNOWN:
            return Outcome.INTERRUPTED
        return OUTCOMES.get(end.state, Outcome.READY)

    def _skip_rest(self, words: str) -> None:
        for news in self._row.steps:
            if news.state is StepState.WAITING:
                self._set(news.model_copy(update={"state": StepState.SKIPPED, "words": words}))

    def _add_line(self, step: Step, line: str) -> None:
        if news := self._row.step(step):
            self._set(news.model_copy(update={"lines": (*news.lines, line)}))

    def _set(self, news: StepNews) -> None:
        self._row = self._row.with_step(news)
        self._tell(self._row)

    def _ended(self, outcome: Outcome) -> HostDeploy:
        self._row = self._row.model_copy(update={"outcome": outcome})
        self._tell(self._row)
        return self._row


def _news(step: Step, end: StepEnd, seconds: float) -> StepNews:
    return StepNews(step=step, state=end.state, words=end.words, lines=end.lines, seconds=seconds)
