"""How busy and how fast a service is, with its last minutes as plots."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflashtui.model.unit import Readiness
from dflashtui.text import human_span, printable
from dflashtui.tui import cells
from dflashtui.tui.details.parts import facts, heading
from dflashtui.tui.plot import plot
from dflashtui.tui.styled import Cell, cell

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from dflashtui.model.load import Load
    from dflashtui.model.probe import GoodStart, Phase
    from dflashtui.model.unit import UnitStatus
    from dflashtui.tui.history import ServiceSample

PLOT_HEIGHT = 3
PLOT_MAX_WIDTH = 120
PLOTS: tuple[tuple[str, str, Callable[[ServiceSample], float | None]], ...] = (
    ("tokens out", "/s", lambda sample: sample.output_tokens_per_second),
    ("requests that run", "", lambda sample: sample.running),
    ("accept length", "", lambda sample: sample.accept_length),
)


def service_lines(
    unit: UnitStatus, samples: Sequence[ServiceSample], now: datetime, width: int, usual: GoodStart | None = None
) -> tuple[Cell, ...]:
    """Nothing for units that are no services, or are not known to be. `usual`: what a start is compared with."""
    if unit.service is None:
        return ()
    return (
        *heading("service"),
        *facts(
            ("state", cell(unit.service.value.replace("-", " "))),
            ("step", _phase(unit, now, usual)),
            ("start", _start(unit, now, usual)),
            ("figures", _problem(unit)),
        ),
        *(_figures(unit.load, now) if unit.load else ()),
        *_plots(samples, min(width, PLOT_MAX_WIDTH)),
    )


def _phase(unit: UnitStatus, now: datetime, usual: GoodStart | None) -> Cell | None:
    if unit.phase is None:
        return None
    age = f"  for {human_span((now - unit.phase_since).total_seconds())}" if unit.phase_since else ""
    return ((phase_words(unit), "busy"), (age + _usual_phase(unit.phase, usual), "dim"))


def _usual_phase(phase: Phase, usual: GoodStart | None) -> str:
    times = (one.seconds for one in (usual.phases if usual else ()) if one.phase.key == phase.key)
    seconds = next((one for one in times if one is not None), None)
    return "" if seconds is None else f", {human_span(seconds)} in the last good start"


def _start(unit: UnitStatus, now: datetime, usual: GoodStart | None) -> Cell | None:
    """While it loads: how long it has taken, beside the last one that became ready."""
    if unit.readiness is not Readiness.LOADING or usual is None or unit.started_at is None:
        return None
    so_far, ago = (now - unit.started_at).total_seconds(), (now - usual.at).total_seconds()
    words = f"  the last good one took {human_span(usual.seconds)}, {human_span(ago)} ago"
    return ((f"{human_span(so_far)} so far", "busy" if so_far <= usual.seconds else "warn"), (words, "dim"))


def phase_words(unit: UnitStatus) -> str:
    """`loading weights of the draft model 50 %`; empty when nothing is known."""
    phase = unit.phase
    if phase is None:
        return ""
    part = f" of the {phase.part} model" if phase.part else ""
    percent = f" {phase.percent} %" if phase.percent is not None else ""
    return printable(f"{phase.words}{part}{percent}")


def _problem(unit: UnitStatus) -> Cell | None:
    return cell(printable(unit.load_problem), "dim") if unit.load_problem and unit.load is None else None


def _figures(load: Load, now: datetime) -> tuple[Cell, ...]:
    age = f"{load.via}, {human_span((now - load.at).total_seconds())} ago"
    return facts(
        ("requests", ((f"{_count(load.running)} run, {_count(load.queued)} wait", ""), (f"  {age}", "dim"))),
        ("tokens out", cells.number(load.output_tokens_per_second, "/s", digits=1)),
        ("tokens in", cells.number(load.input_tokens_per_second, "/s", digits=1)),
        ("KV cache", cells.number(load.kv_use_percent, "%", digits=1)),
        ("prefix hits", cells.number(load.prefix_hit_percent, "%", digits=1)),
        ("first token", _pair(load.ttft_p50_ms, load.ttft_p95_ms)),
        ("per token", _pair(load.itl_p50_ms, load.itl_p95_ms)),
        ("accept length", cells.number(load.accept_length, "tokens", digits=2)),
        ("accept rate", cells.number(load.accept_rate_percent, "%", digits=1)),
        ("retracted", cell(str(load.retracted_count), "warn") if load.retracted_count else None),
        ("CUDA graphs", cell("no", "warn") if load.cuda_graph is False else None),
    )


def _pair(middle: float | None, tail: float | None) -> Cell:
    if middle is None:
        return cells.UNKNOWN
    return ((f"{middle:.0f} ms", ""), (f"  p95 {tail:.0f} ms" if tail is not None else "", "dim"))


def _count(value: int | None) -> str:
    return "–" if value is None else str(value)


def _plots(samples: Sequence[ServiceSample], width: int) -> tuple[Cell, ...]:
    lines: list[Cell] = []
    for title, unit, figure in PLOTS:
        values = [figure(sample) for sample in samples]
        known = [value for value in values if value is not None]
        if len(known) > 1 and max(known) > 0:
            top = max(known)
            scaled = [None if value is None else 100 * value / top for value in values]
            lines += heading(f"{title}, to {top:.4g}{unit}")
            lines += [cell(row, "busy") for row in plot(scaled, width, PLOT_HEIGHT)]
    return tuple(lines)
