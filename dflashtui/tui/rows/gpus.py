"""GPUs as rows, of one host or of all, and the processes on one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflashtui.text import human_bytes, printable
from dflashtui.tui import cells
from dflashtui.tui.glyphs import gpu_state
from dflashtui.tui.gpu_health import gpu_faults, gpu_warnings
from dflashtui.tui.listing.table import Row
from dflashtui.tui.rows.tables import METER_WIDTH
from dflashtui.tui.rows.units import is_old
from dflashtui.tui.rows.words import unit_label
from dflashtui.tui.styled import EMPTY, Cell, cell, cut, toned
from dflashtui.tui.subject import gpu_subject

if TYPE_CHECKING:
    from datetime import datetime

    from dflashtui.model.gpu import Gpu, GpuProcess
    from dflashtui.model.host import HostSnapshot
    from dflashtui.tui.picture import Picture

PROCESS_INDENT = 10
"""The command of a process stands under its memory."""


def gpu_rows(host: HostSnapshot, now: datetime) -> tuple[Row, ...]:
    """The GPUs of one host."""
    return tuple(_row(host, gpu, now, ()) for gpu in host.gpus or ())


def all_gpu_rows(picture: Picture) -> tuple[Row, ...]:
    """The GPUs of all hosts."""
    return tuple(
        _row(host, gpu, picture.now, (cell(printable(host.name), "dim"),))
        for host in picture.hosts
        for gpu in host.gpus or ()
    )


def no_gpu_words(host: HostSnapshot) -> str:
    """Why a host shows no GPU: the driver's message where there is one."""
    reason = next((source.problem for source in host.sources if source.source == "gpus" and source.problem), None)
    if reason:
        return printable(reason, limit=300)
    return "GPUs not read yet" if host.gpus is None else "no GPU on this host"


def _row(host: HostSnapshot, gpu: Gpu, now: datetime, place: tuple[Cell, ...]) -> Row:
    state = gpu_state(gpu)
    shown: tuple[Cell, ...] = (cell(str(gpu.index), "strong"), *_values(gpu), *_words(gpu))
    if is_old(host, now):
        shown = tuple(toned(pieces, "stale") for pieces in shown)
    return Row(
        gpu_subject(host.name, gpu.index),
        (cell(state.glyph, state.role), *place, *shown),
        (None, *((host.name,) if place else ()), *_sort_values(gpu, float(state.rank))),
        text=f"{host.name} gpu{gpu.index} {state.word} {holders(gpu)} {printable(gpu.name or '')}".lower(),
        problem=state.role in {"bad", "warn"},
    )


def _values(gpu: Gpu) -> tuple[Cell, ...]:
    if gpu.lost:
        return (cell("lost", "bad"), *(cells.UNKNOWN for _ in range(4)))
    return (
        cells.meter(gpu.utilization_percent, METER_WIDTH, "ok"),
        cells.number(gpu.utilization_percent, "%"),
        cells.share(gpu.memory_used_bytes, gpu.memory_total_bytes),
        cells.temperature(gpu),
        power(gpu),
    )


def power(gpu: Gpu) -> Cell:
    """`412/700 W`."""
    if gpu.power_watts is None:
        return cells.UNKNOWN
    limit = f"/{gpu.power_limit_watts:.0f}" if gpu.power_limit_watts else ""
    return ((f"{gpu.power_watts:.0f}", ""), (f"{limit} W", "dim"))


def _words(gpu: Gpu) -> tuple[Cell, ...]:
    held = holders(gpu)
    words = gpu_faults(gpu) or gpu_warnings(gpu)
    role = "bad" if gpu_faults(gpu) else "warn"
    return (
        cell(held) if held else cell("–", "dim"),
        cell(printable((gpu.name or "–").removeprefix("NVIDIA ")), "dim"),
        cell(" · ".join(words), role) if words else EMPTY,
    )


def holders(gpu: Gpu) -> str:
    """Who holds memory: units by name, processes of no unit by pid."""
    names = [unit_label(process.unit) if process.unit else f"pid {process.pid}" for process in gpu.processes or ()]
    return ", ".join(dict.fromkeys(names))


def _sort_values(gpu: Gpu, rank: float) -> tuple[float | str | None, ...]:
    load = None if gpu.utilization_percent is None else float(gpu.utilization_percent)
    return (
        float(gpu.index), load, load, gpu.memory_used_bytes, gpu.temperature_celsius, gpu.power_watts,
        holders(gpu) or None, gpu.name, rank,
    )  # fmt: skip


def process_lines(gpu: Gpu, width: int) -> tuple[Cell, ...]:
    """Who holds memory on a GPU, largest first, two lines for each; a process of no unit says so."""
    if gpu.processes is None:
        return (cell("processes could not be read", "warn"),)
    if not gpu.processes:
        return (cell("none", "dim"),)
    held = sorted(gpu.processes, key=lambda process: -(process.memory_used_bytes or 0))
    return tuple(line for process in held for line in _process(process, width))


def _process(process: GpuProcess, width: int) -> tuple[Cell, ...]:
    owner = (unit_label(process.unit), "strong") if process.unit else ("no unit", "warn")
    first = ((f"{process.pid:>8}  ", "dim"), (f"{human_bytes(process.memory_used_bytes):>9}  ", ""), owner)
    command = cell(" " * PROCESS_INDENT + printable(process.command or "command not known", limit=400), "dim")
    return first, cut(command, width)
