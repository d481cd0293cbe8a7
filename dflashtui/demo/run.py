"""One start of a simulated service, and everything that it writes until it ends. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from dflashtui.demo.line import Line
from dflashtui.demo.plan import Behaviour, ServicePlan
from dflashtui.demo.writing import script, steady

if TYPE_CHECKING:
    from collections.abc import Iterator

SECOND_USEC = 1_000_000
CRASH_SECONDS = 4.2
NO_GPU_SECONDS = 6.4
OUT_OF_MEMORY_SHARE = 0.55
"""Of the loading time, after which a service that does not fit dies."""


@dataclass(frozen=True, slots=True)
class Run:
    """From one start to one stop; times are seconds since the epoch."""

    number: int
    invocation_id: str
    pid: int
    started: float
    behaviour: Behaviour
    load_seconds: float

    @property
    def ready_at(self) -> float:
        """When it would answer, if it lives so long."""
        return self.started + self.load_seconds

    @property
    def dies_at(self) -> float | None:
        """When it ends by itself."""
        match self.behaviour:
            case Behaviour.LOOPS:
                return self.started + CRASH_SECONDS
            case Behaviour.LOST_ITS_GPU:
                return self.started + NO_GPU_SECONDS
            case Behaviour.RUNS_OUT_OF_MEMORY:
                return self.started + self.load_seconds * OUT_OF_MEMORY_SHARE
            case _:
                return None


def lines(plan: ServicePlan, run: Run, after_usec: int, until_usec: int) -> Iterator[Line]:
    """What it writes after one moment and until another, in order."""
    for line in _script(plan, run):
        if after_usec < line.at_usec <= until_usec:
            yield line
    yield from _steady(plan, run, after_usec, until_usec)


@lru_cache(maxsize=256)
def _script(plan: ServicePlan, run: Run) -> tuple[Line, ...]:
    start = int(run.started * SECOND_USEC)
    span = (run.dies_at or run.ready_at) - run.started
    written = script(plan, run.behaviour, run.pid, run.started, span)
    return tuple(
        _line(plan, run, start + int(share * span * SECOND_USEC) + place, text)
        for place, (share, text) in enumerate(written)
    )


def _steady(plan: ServicePlan, run: Run, after_usec: int, until_usec: int) -> Iterator[Line]:
    if run.dies_at is not None:
        return
    first = max(after_usec, int((run.ready_at + 1) * SECOND_USEC))
    for slot in range(first // SECOND_USEC, until_usec // SECOND_USEC + 1):
        for place, text in enumerate(steady(plan, run.pid, slot)):
            at_usec = slot * SECOND_USEC + 1000 * place + run.pid % 997
            if first < at_usec <= until_usec:
                yield _line(plan, run, at_usec, text)


def _line(plan: ServicePlan, run: Run, at_usec: int, text: str) -> Line:
    return Line(at_usec, text, run.invocation_id, run.pid, "python" if plan.engine != "none" else "server")
