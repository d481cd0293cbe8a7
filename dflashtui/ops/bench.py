"""A small honest benchmark of one unit, or an A/B of two (inference-engines, part 8.2).

Turns alternate A B, B A, A B: what drifts with time falls on both. Every level is warmed up, every request has a
beginning that no cache knows, failures are kept, and two units whose texts differ too much are not compared at all.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Protocol

from dflashtui.errors import DflashError, OperationError
from dflashtui.model.bench import BenchResult, LevelRun, Side, SideFacts
from dflashtui.ops import bench_fair, bench_same
from dflashtui.ops.bench_facts import facts
from dflashtui.ops.bench_load import Level, Plan
from dflashtui.ops.bench_prompts import VERSION
from dflashtui.ops.bench_stats import figures, speedups
from dflashtui.ops.endpoint import find_endpoint
from dflashtui.ops.smoke import smoke
from dflashtui.source.asking import fetch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from dflashtui.config.model import Config
    from dflashtui.ops.bench_switch import Place
    from dflashtui.ops.endpoint import Asked, Endpoint

LABELS = "AB"
FLUSH_SECONDS = 10.0
SMOKE_TOKENS = 16


class Gives(Protocol):
    """Makes room for one unit at a time."""

    async def give_to(self, place: Place) -> None:
        """Raises `OperationError`."""

    async def restore(self) -> None:
        """As it was found."""


@dataclass(slots=True)
class _Side:
    """One unit, as far as it was measured."""

    label: str
    place: Place
    facts: SideFacts | None = None
    runs: list[LevelRun] = field(default_factory=list)
    trouble: str | None = None
    current: Level | None = None

    def value(self) -> Side:
        host, unit = self.place
        cut = [self.current.result(is_whole=False)] if self.current and self.current.records else []
        return Side(
            label=self.label,
            host=host,
            unit=unit,
            facts=self.facts or SideFacts(engine="unknown"),
            levels=figures(self.runs),
            runs=(*self.runs, *cut),
            trouble=self.trouble,
        )


class Bench:
    """Run once. `result` tells what is known at any moment, also after it was cancelled."""

    def __init__(
        self,
        fleet: Asked,
        config: Config,
        places: Sequence[Place],
        plan: Plan,
        *,
        switch: Gives | None = None,
        tell: Callable[[str], None] = lambda _: None,
    ) -> None:
        """`places`: one unit, or two; `switch`: where they take turns on a GPU; `tell`: what goes on, in words."""
        self._fleet = fleet
        self._config = config
        self._plan = plan
        self._switch = switch
        self._tell = tell
        self._sides = [_Side(label, place) for label, place in zip(LABELS, places, strict=False)]
        self._at = datetime.now(UTC)
        self._order: list[str] = []
        self._is_whole = False

    async def run(self) -> BenchResult:
        """Measure. Trouble with a unit is in the result. Cancelling leaves the units as they were found."""
        try:
            for number, side in enumerate(self._turns()):
                if not any(one.trouble for one in self._sides):
                    self._order.append(side.label)
                    await self._take_turn(side, number // len(self._sides))
            self._is_whole = not any(side.trouble for side in self._sides)
        finally:
            await self._restore()
        return self.result()

    def _turns(self) -> Iterator[_Side]:
        for turn in range(self._plan.turns):
            yield from self._sides if turn % 2 == 0 else reversed(self._sides)

    async def _take_turn(self, side: _Side, turn: int) -> None:
        try:
            if self._switch:
                self._tell(f"{side.label}: making room for {side.place[1]}")
                await self._switch.give_to(side.place)
            service = await find_endpoint(self._fleet, self._config, *side.place)
            await self._measure(side, service, turn)
        except DflashError as trouble:
            side.trouble = str(trouble)

    async def _measure(self, side: _Side, service: Endpoint, turn: int) -> None:
        proof = await smoke(service, lambda _: None, max_tokens=SMOKE_TOKENS, limits=self._plan.limits)
        if not proof.is_proven:
            raise OperationError(f"{service.host}: {service.unit}: {proof.verdict}: {proof.words}")
        run_id = self._run_of(side)
        await self._note(side, service, proof.model, run_id)
        for concurrency in self._plan.levels:
            await self._flush(service)
            side.current = Level(
                service=service,
                model=proof.model,
                is_chat=proof.is_chat,
                concurrency=concurrency,
                turn=turn,
                plan=self._plan,
                told=self._progress(side, turn, concurrency),
            )
            side.runs.append(await side.current.run())
            side.current = None
            if self._run_of(side) != run_id:
                raise OperationError(f"{service.host}: {service.unit}: its run ended during the bench")
            self._check_alive(side, service)

    def _check_alive(self, side: _Side, service: Endpoint) -> None:
        last = side.runs[-1].requests
        if last and not any(one.is_ok for one in last):
            words = last[-1].words or last[-1].outcome
            raise OperationError(f"{service.host}: {service.unit}: no request of a level succeeded: {words}")

    def _run_of(self, side: _Side) -> str | None:
        host, unit = side.place
        status = self._fleet.snapshot(host).unit(unit)
        return status.invocation_id if status and status.main_pid else None

    async def _note(self, side: _Side, service: Endpoint, model: str | None, run_id: str | None) -> None:
        known = side.facts or await facts(self._fleet, self._config, service, model)
        runs = tuple(dict.fromkeys((*known.invocations, *([run_id] if run_id else []))))
        side.facts = known.model_copy(update={"invocations": runs})

    async def _flush(self, service: Endpoint) -> None:
        """Empties the prefix cache where the engine offers it; prompts with beginnings of their own do the rest."""
        if service.engine == "sglang":
            url = f"{service.base}/flush_cache?timeout=5"
            await fetch(service.dial, url, key=service.key, is_post=True, limit_seconds=FLUSH_SECONDS)

    def _progress(self, side: _Side, turn: int, concurrency: int) -> Callable[[int, int], None]:
        words = f"{side.label} {side.place[1]} turn {turn + 1}/{self._plan.turns}, {concurrency} at once"
        return lambda done, count: self._tell(f"{words}: {done}/{count}")

    async def _restore(self) -> None:
        if self._switch is None:
            return
        self._tell("leaving the units as they were")
        try:
            await asyncio.shield(self._switch.restore())
        except OperationError as trouble:
            self._sides[0].trouble = self._sides[0].trouble or f"units are not as they were: {trouble}"

    def result(self) -> BenchResult:
        """What is known by now."""
        sides = [side.value() for side in self._sides]
        found = BenchResult(
            at=self._at,
            prompts_version=VERSION,
            levels=self._plan.levels,
            turns=self._plan.turns,
            max_tokens=self._plan.max_tokens,
            order=tuple(self._order),
            sides=tuple(sides),
            is_partial=not self._is_whole,
        )
        return compared(found) if len(sides) > 1 else found


def compared(found: BenchResult) -> BenchResult:
    """With what an A/B adds: whether the texts are the same, whether it is fair, and only then the speed-up. Pure."""
    first, second = found.sides
    lowest = min(found.levels)
    texts = [[run for run in side.runs if run.concurrency == lowest] for side in found.sides]
    same = bench_same.sameness(*texts)
    invalid = (*bench_fair.objections(first, second), *bench_same.objections(same))
    return found.model_copy(
        update={
            "sameness": same,
            "invalid": invalid,
            "notes": (*bench_fair.remarks(first, second), *bench_same.remarks(same)),
            "speedups": () if invalid else speedups(first.levels, second.levels),
        }
    )
