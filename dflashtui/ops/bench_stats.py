"""Runs become figures. Pure. Definitions: inference-engines, part 8.1."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from dflashtui.model.bench import LevelFigures, LevelRun, Speedup, Spread

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

SAMPLES_FOR_TAILS = 20
"""A p5 or p95 of fewer says nothing."""


def percentile(values: Sequence[float], share: float) -> float | None:
    """Linear between the two nearest samples; `None` of none."""
    if not values:
        return None
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def spread(values: Iterable[float | None]) -> Spread:
    """Of the values that are known."""
    known = [value for value in values if value is not None]
    has_tails = len(known) >= SAMPLES_FOR_TAILS
    return Spread(
        count=len(known),
        p5=_rounded(percentile(known, 0.05)) if has_tails else None,
        p50=_rounded(percentile(known, 0.5)),
        p95=_rounded(percentile(known, 0.95)) if has_tails else None,
    )


def figures(runs: Sequence[LevelRun]) -> tuple[LevelFigures, ...]:
    """One for each level, over all whole turns of one unit."""
    levels = sorted({run.concurrency for run in runs})
    return tuple(_level(level, [run for run in runs if run.concurrency == level and run.is_whole]) for level in levels)


def _level(concurrency: int, runs: Sequence[LevelRun]) -> LevelFigures:
    requests = [one for run in runs for one in run.requests]
    good = [one for one in requests if one.is_ok]
    tokens = [run.output_tokens for run in runs]
    accepted = [run.accept_length for run in runs if run.accept_length is not None]
    return LevelFigures(
        concurrency=concurrency,
        turns=len(runs),
        requests=len(requests),
        failures=len(requests) - len(good),
        failed_by=dict(Counter(one.outcome for one in requests if not one.is_ok)),
        output_tokens=None if None in tokens else sum(filter(None, tokens)),
        tokens_per_second=spread(run.tokens_per_second for run in runs),
        request_tokens_per_second=spread(_own_speed(one.output_tokens, one.latency_ms) for one in good),
        ttft_ms=spread(one.ttft_ms for one in good),
        tpot_ms=spread(one.tpot_ms for one in good),
        wall_seconds=round(sum(run.wall_seconds for run in runs), 3),
        accept_length=_rounded(sum(accepted) / len(accepted)) if accepted else None,
        accept_from=next((run.accept_from for run in runs if run.accept_from), None),
        kv_use_percent=max((run.kv_use_percent for run in runs if run.kv_use_percent is not None), default=None),
    )


def _own_speed(tokens: int | None, latency_ms: float | None) -> float | None:
    return tokens / latency_ms * 1000 if tokens and latency_ms else None


def speedups(first: Sequence[LevelFigures], second: Sequence[LevelFigures]) -> tuple[Speedup, ...]:
    """The second over the first, level by level: above 1 is faster, for times too."""
    others = {level.concurrency: level for level in second}
    return tuple(
        Speedup(
            concurrency=one.concurrency,
            throughput_ratio=_ratio(other.tokens_per_second.p50, one.tokens_per_second.p50),
            ttft_ratio=_ratio(one.ttft_ms.p50, other.ttft_ms.p50),
            tpot_ratio=_ratio(one.tpot_ms.p50, other.tpot_ms.p50),
        )
        for one in first
        if (other := others.get(one.concurrency))
    )


def _ratio(over: float | None, under: float | None) -> float | None:
    return round(over / under, 3) if over is not None and under else None


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 3)
