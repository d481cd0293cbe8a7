"""One GPU in detail."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflashtui.model import xids
from dflashtui.text import human_bytes, human_span, printable
from dflashtui.tui import cells
from dflashtui.tui.details.parts import fact, facts, heading, wrapped
from dflashtui.tui.glyphs import gpu_state
from dflashtui.tui.gpu_health import THROTTLES, gpu_faults, gpu_warnings
from dflashtui.tui.history import percent
from dflashtui.tui.plot import plot
from dflashtui.tui.rows.gpus import power, process_lines
from dflashtui.tui.styled import EMPTY, Cell, cell, join

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from dflashtui.model.gpu import Gpu
    from dflashtui.tui.history import Sample

BAR_WIDTH = 16
PLOT_HEIGHT = 3
PLOT_MAX_WIDTH = 120


def gpu_lines(gpu: Gpu, samples: Sequence[Sample], now: datetime, width: int) -> tuple[Cell, ...]:
    """Everything about a GPU, for a pane of `width` cells."""
    state = gpu_state(gpu)
    name = printable(gpu.name or "unknown model")
    title: Cell = (
        (f"{state.glyph} ", state.role),
        (f"GPU {gpu.index}", "title"),
        (f"  {state.word}", state.role),
        (f"  {name}", "dim"),
    )
    return (
        title,
        *_troubles(gpu, now, width),
        EMPTY,
        *_gauges(gpu),
        *_plots(samples, min(width, PLOT_MAX_WIDTH)),
        *heading("processes"),
        *process_lines(gpu, width),
        *heading("health"),
        *_health(gpu),
    )


def _troubles(gpu: Gpu, now: datetime, width: int) -> tuple[Cell, ...]:
    lines: list[Cell] = []
    if gpu.lost:
        lines += wrapped(gpu.lost, width, "bad")
    if xid := gpu.last_xid:
        who = f" · pid {xid.pid}" * (xid.pid is not None) + f" {printable(xid.process_name or '', limit=40)}"
        age = human_span((now - xid.at).total_seconds())
        lines.append(((f"Xid {xid.xid}", "bad"), (f"  {age} ago{who}".rstrip(), "dim")))
        lines += wrapped(xid_in_words(xid.xid), width)
        lines += wrapped(xid.message, width, "dim")
    if len(gpu_faults(gpu)) + len(gpu_warnings(gpu)) > 1:
        lines += [cell(words, "bad") for words in gpu_faults(gpu)] + [
            cell(words, "warn") for words in gpu_warnings(gpu)
        ]
    return tuple(lines)


def xid_in_words(number: int) -> str:
    """What an Xid means and what to do."""
    known = xids.meaning(number)
    return f"{known.words}: {known.advice}" if known else "not in this program's list: see NVIDIA's Xid catalog"


def _gauge(label: str, share: float | None, value: Cell, *more: Cell, tone: str = "busy") -> Cell:
    return fact(label, ((*cells.meter(share, BAR_WIDTH, tone), ("  ", ""), *join((value, *more), "  "))))


def _gauges(gpu: Gpu) -> tuple[Cell, ...]:
    bus = gpu.utilization_memory_percent
    limit = gpu.temperature_slowdown_celsius
    return (
        _gauge(
            "utilization",
            gpu.utilization_percent,
            cells.number(gpu.utilization_percent, "%"),
            EMPTY if bus is None else cell(f"memory bus {bus} %", "dim"),
        ),
        _gauge("memory", percent(gpu.memory_used_bytes, gpu.memory_total_bytes), _memory(gpu)),
        _gauge("power", percent(gpu.power_watts, gpu.power_limit_watts), power(gpu)),
        _gauge(
            "temperature",
            percent(gpu.temperature_celsius, limit),
            cells.temperature(gpu),
            EMPTY if limit is None else cell(f"slows down at {limit} °C", "dim"),
        ),
        *_clocks(gpu),
    )


def _memory(gpu: Gpu) -> Cell:
    if gpu.memory_used_bytes is None:
        return cells.UNKNOWN
    return ((human_bytes(gpu.memory_used_bytes), ""), (f" of {human_bytes(gpu.memory_total_bytes)}", "dim"))


def _clocks(gpu: Gpu) -> tuple[Cell, ...]:
    most = f"/{gpu.clock_sm_max_mhz}" if gpu.clock_sm_max_mhz else ""
    parts = (
        cell(f"SM {gpu.clock_sm_mhz}{most} MHz") if gpu.clock_sm_mhz is not None else EMPTY,
        cell(f"memory {gpu.clock_memory_mhz} MHz", "dim") if gpu.clock_memory_mhz is not None else EMPTY,
        cell(f"P{gpu.performance_state}", "dim") if gpu.performance_state is not None else EMPTY,
    )
    reasons = [
        cell(printable(reason.replace("_", " "), limit=60), "warn" if reason in THROTTLES else "dim")
        for reason in gpu.clocks_event_reasons
    ]
    reserved = gpu.memory_reserved_bytes
    return facts(
        ("driver keeps", None if reserved is None else cell(human_bytes(reserved), "dim")),
        ("clocks", join(parts, " · ") or cells.UNKNOWN),
        ("lowered by", join(reasons, ", ") or cell("nothing", "dim")),
    )


def _plots(samples: Sequence[Sample], width: int) -> tuple[Cell, ...]:
    if not samples:
        return (*heading("history"), cell("begins with the first sample", "dim"))
    shown = samples[-width:]
    span = human_span((shown[-1].at - shown[0].at).total_seconds())
    lines: list[Cell] = []
    for label, values in (
        ("utilization", [sample.utilization for sample in shown]),
        ("memory", [sample.memory for sample in shown]),
    ):
        lines += [EMPTY, ((label, "title"), (f"  0–100 %, last {span}", "dim"))]
        lines += [cell(line, "busy") for line in plot(values, width, PLOT_HEIGHT)]
    return tuple(lines)


def _health(gpu: Gpu) -> tuple[Cell, ...]:
    count = gpu.ecc_uncorrected_count
    mig = {True: cell("on"), False: cell("off", "dim"), None: cells.UNKNOWN}[gpu.mig_enabled]
    return facts(
        ("ECC", cells.UNKNOWN if count is None else cell(f"{count} uncorrected", "bad" if count else "dim")),
        ("row remaps", _remaps(gpu)),
        ("MIG", mig),
        ("fan", None if gpu.fan_percent is None else cells.number(gpu.fan_percent, "%")),
        ("compute", None if gpu.compute_capability is None else cell(printable(gpu.compute_capability), "dim")),
        ("bus", cells.optional(gpu.pci_bus_id, "dim")),
        ("UUID", cells.optional(gpu.uuid, "dim")),
    )


def _remaps(gpu: Gpu) -> Cell:
    if gpu.remapped_rows_failed:
        return cell("failed: the memory has no spare rows left, replace the GPU", "bad")
    if gpu.remapped_rows_pending:
        return cell("pending: reset the GPU when it is free", "warn")
    rows = gpu.remapped_rows_uncorrectable
    return cells.UNKNOWN if rows is None else cell(f"{rows} after uncorrectable errors", "dim")
