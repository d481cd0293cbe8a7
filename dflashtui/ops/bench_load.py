"""Sends the requests of one level: so many at once, each answer followed by the next question."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field
from time import monotonic
from typing import TYPE_CHECKING

from dflashtui.engines.metrics import reading
from dflashtui.engines.openai import Prompt
from dflashtui.model.bench import LevelRun, RequestRecord
from dflashtui.model.generation import Generation, Outcome
from dflashtui.ops.bench_prompts import PROMPTS
from dflashtui.source.asking import fetch
from dflashtui.source.completion import Limits, complete
from dflashtui.text import decoded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from dflashtui.engines.metrics import Reading
    from dflashtui.ops.bench_prompts import BenchPrompt
    from dflashtui.ops.endpoint import Endpoint

SHORT_TOKENS = 64
WARM_UP_TOKENS = 32
WARM_UP_FACTOR = 2
"""Requests of a warm-up for each that runs at once."""
REQUESTS_FACTOR = 4
STAGGER_SECONDS = 0.004
"""Between the first requests of a level: sent in one moment, each would wait for the making of all others."""
METRICS_SECONDS = 1.0
METRICS_LIMIT_BYTES = 4 * 2**20
GONE = frozenset({Outcome.REFUSED.value, Outcome.BROKEN.value})
LIMITS = Limits(seconds=600.0, silent_seconds=120.0)


@dataclass(frozen=True, slots=True)
class Plan:
    """How much is asked."""

    levels: tuple[int, ...] = (1, 2, 4, 8, 16)
    turns: int = 3
    max_tokens: int = 256
    requests: int | None = None
    """Of each level; `None`: the whole set of prompts, and four for each that runs at once."""
    limits: Limits = LIMITS

    def count(self, concurrency: int) -> int:
        """How many requests a level has."""
        return self.requests or max(len(PROMPTS), REQUESTS_FACTOR * concurrency)


@dataclass(slots=True)
class Level:
    """One level of one turn of one service."""

    service: Endpoint
    model: str | None
    is_chat: bool
    concurrency: int
    turn: int
    plan: Plan
    told: Callable[[int, int], None]
    """How many requests are done, of how many."""
    records: list[RequestRecord] = field(default_factory=list)
    _spans: list[tuple[float, float]] = field(default_factory=list)
    _readings: list[Reading] = field(default_factory=list)

    async def run(self) -> LevelRun:
        """Warm up, measure, and give what came of it. A service that is gone ends the level."""
        await self._send(self._questions(WARM_UP_FACTOR * self.concurrency, "warm-up", WARM_UP_TOKENS), keeps=False)
        await self._read_metrics()
        watching = asyncio.create_task(self._watch())
        try:
            await self._send(
                self._questions(self.plan.count(self.concurrency), "run", self.plan.max_tokens), keeps=True
            )
        finally:
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)
        await self._read_metrics()
        return self.result(is_whole=True)

    def result(self, *, is_whole: bool) -> LevelRun:
        """What is known by now."""
        began = min((sent for sent, _ in self._spans), default=0.0)
        ended = max((end for _, end in self._spans), default=0.0)
        length, origin = _accept_length(self._readings)
        uses = [value for one in self._readings if (value := one.get("kv_use")) is not None]
        return LevelRun(
            concurrency=self.concurrency,
            turn=self.turn,
            wall_seconds=round(ended - began, 6),
            requests=tuple(self.records),
            accept_length=length,
            accept_from=origin,
            kv_use_percent=round(100 * max(uses), 1) if uses else None,
            is_whole=is_whole,
        )

    def _questions(self, count: int, kind: str, max_tokens: int) -> list[tuple[BenchPrompt, Prompt]]:
        """Each with a beginning of its own, so that no prefix cache knows it; the same for the unit beside."""
        found = []
        for number in range(count):
            prompt = PROMPTS[number % len(PROMPTS)]
            text = f"({kind} {self.turn + 1}.{self.concurrency}.{number + 1}) {prompt.text}"
            limit = max_tokens if prompt.is_long else min(max_tokens, SHORT_TOKENS)
            found.append((prompt, Prompt(text, model=self.model, max_tokens=limit, is_chat=self.is_chat)))
        return found

    async def _send(self, questions: Sequence[tuple[BenchPrompt, Prompt]], *, keeps: bool) -> None:
        slots: list[RequestRecord | None] = [None] * len(questions)
        waiting = iter(enumerate(questions))
        try:
            async with asyncio.TaskGroup() as group:
                for place in range(min(self.concurrency, len(questions))):
                    group.create_task(self._work(place * STAGGER_SECONDS, waiting, slots, keeps=keeps))
        finally:
            if keeps:
                self.records = [record for record in slots if record]

    async def _work(
        self,
        delay_seconds: float,
        waiting: Iterator[tuple[int, tuple[BenchPrompt, Prompt]]],
        slots: list[RequestRecord | None],
        *,
        keeps: bool,
    ) -> None:
        await asyncio.sleep(delay_seconds)
        for place, (prompt, asked) in waiting:
            found = await complete(
                self.service.dial, self.service.base, asked, key=self.service.key, limits=self.plan.limits
            )
            slots[place] = self._record(prompt.name, found)
            if keeps:
                self._spans.append(_span(found))
                self.told(sum(one is not None for one in slots), len(slots))
            if self._is_gone(slots):
                return

    def _is_gone(self, slots: Sequence[RequestRecord | None]) -> bool:
        """Nobody listens any more: as many refusals as run at once, and no answer after them."""
        done = [one for one in slots if one is not None]
        last = done[-(self.concurrency + 1) :]
        return len(last) > self.concurrency and all(one.outcome in GONE for one in last)

    def _record(self, name: str, found: Generation) -> RequestRecord:
        keeps_text = self.concurrency == min(self.plan.levels)
        return RequestRecord(
            prompt=name,
            outcome=found.outcome.value,
            words=self.service.without_key(found.words),
            ttft_ms=_ms(found.ttft_seconds),
            tpot_ms=_ms(found.tpot_seconds),
            latency_ms=_ms(found.latency_seconds),
            output_tokens=found.output_tokens,
            finish_reason=found.finish_reason,
            text=found.reasoning + found.text if keeps_text else None,
        )

    async def _watch(self) -> None:
        """Gauges while it runs; one question in flight."""
        while await self._read_metrics():  # noqa: ASYNC110 - asked now and then, nobody tells
            await asyncio.sleep(METRICS_SECONDS)

    async def _read_metrics(self) -> bool:
        url = f"{self.service.base}/metrics"
        found = await fetch(self.service.dial, url, key=self.service.key, limit_bytes=METRICS_LIMIT_BYTES)
        if not found.is_ok or len(found.body) >= METRICS_LIMIT_BYTES:
            return False
        with suppress(RecursionError):
            self._readings.append(reading(decoded(found.body).splitlines(), monotonic()))
        return True


def _span(found: Generation) -> tuple[float, float]:
    sent = found.sent_seconds or monotonic()
    return sent, sent + (found.latency_seconds or 0.0)


def _accept_length(readings: Sequence[Reading]) -> tuple[float | None, str | None]:
    """From counters before and after; else the mean of the engine's own gauge while it ran."""
    if len(readings) > 1:
        before, after = readings[0], readings[-1]
        drafts = after.values.get("drafts", 0.0) - before.values.get("drafts", 0.0)
        if drafts > 0:
            return 1 + (after.values["accepted"] - before.values.get("accepted", 0.0)) / drafts, "counters"
    gauges = [value for one in readings[1:] if (value := one.get("accept_length"))]
    return (sum(gauges) / len(gauges), "gauge") if gauges else (None, None)


def _ms(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds * 1000, 3)
