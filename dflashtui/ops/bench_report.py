"""A bench's result for scripts and for terminals. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from dflashtui.model.bench import BenchResult, LevelFigures, Side, Spread

UNKNOWN = "n/a"
HEAD = (
    "at once",
    "requests",
    "failed",
    "tokens/s",
    "per request",
    "TTFT ms p50 / p95",
    "TPOT ms p50 / p95",
    "accept",
    "KV %",
)
SHOWN_DIFFERENCES = 3


def document(result: BenchResult) -> dict[str, Any]:
    """`bench --json`: everything, each request too. `null` is unknown."""
    return {"schema": 1, "verdict": verdict(result), **result.model_dump(mode="json")}


def verdict(result: BenchResult) -> str:
    """`measured`, `compared`, `invalid`, `partial`."""
    if result.invalid:
        return "invalid"
    if result.is_partial:
        return "partial"
    return "compared" if len(result.sides) > 1 else "measured"


def lines(result: BenchResult) -> Iterator[str]:
    """Tables, one for each unit, then what the comparison says."""
    if result.is_partial:
        yield "PARTIAL: it was interrupted, or a unit could not be measured to the end"
    for side in result.sides:
        yield from _side(side)
    if len(result.sides) > 1:
        yield from _comparison(result)


def _side(side: Side) -> Iterator[str]:
    facts = side.facts
    gpus = ", ".join(f"GPU {gpu.index} {gpu.name or ''}".strip() for gpu in facts.gpus) or "GPU not known"
    engine = f"{facts.engine} {facts.engine_version or ''}".strip()
    yield f"{side.label}  {side.unit} on {side.host}: {engine}, {facts.model}, {gpus}"
    if side.trouble:
        yield f"   {side.trouble}"
    if side.levels:
        yield from _table([HEAD, *map(row, side.levels)])
    yield ""


def row(level: LevelFigures) -> tuple[str, ...]:
    """One line of the table, by `HEAD`."""
    return (
        str(level.concurrency),
        str(level.requests),
        str(level.failures),
        shown(level.tokens_per_second.p50),
        shown(level.request_tokens_per_second.p50),
        pair(level.ttft_ms),
        pair(level.tpot_ms),
        shown(level.accept_length, 2) + ("*" if level.accept_from == "gauge" else ""),
        shown(level.kv_use_percent),
    )


def pair(spread: Spread) -> str:
    """The middle and the tail, with the number of samples where there are too few for a tail."""
    tail = shown(spread.p95) if spread.p95 is not None else f"{UNKNOWN} (n={spread.count})"
    return f"{shown(spread.p50)} / {tail}"


def shown(value: float | None, digits: int = 1) -> str:
    """A number, or `n/a`."""
    return UNKNOWN if value is None else f"{value:.{digits}f}"


def _table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for cells in rows:
        yield "   " + "  ".join(cell.rjust(width) for cell, width in zip(cells, widths, strict=True))


def _comparison(result: BenchResult) -> Iterator[str]:
    if result.invalid:
        yield "INVALID: the two must not be compared"
        yield from (f"  - {reason}" for reason in result.invalid)
    elif result.speedups:
        yield "B against A (above 1: B is faster)"
        for one in result.speedups:
            ratios = (one.throughput_ratio, one.ttft_ratio, one.tpot_ratio)
            words = [
                f"{name} {shown(ratio, 2)}" for name, ratio in zip(("tokens/s", "TTFT", "TPOT"), ratios, strict=True)
            ]
            yield f"   {one.concurrency:>3} at once: {', '.join(words)}"
    if same := result.sameness:
        yield f"same text: {same.identical} of {same.pairs}"
        for found in same.differences[:SHOWN_DIFFERENCES]:
            yield f"  {found.prompt}, word {found.at_word}: …{found.before[-30:]!r}"
            yield f"    A {found.first!r}"
            yield f"    B {found.second!r}"
    yield from (f"note: {note}" for note in result.notes)
