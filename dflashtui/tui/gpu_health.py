"""What is wrong with a GPU, in words. Pure. Memory in use is not an alarm: model servers fill it on purpose."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflashtui.model.rules import ORPHAN_FROM_BYTES, THERMAL_MARGIN_CELSIUS
from dflashtui.text import human_bytes, printable

if TYPE_CHECKING:
    from dflashtui.model.gpu import Gpu, GpuProcess

THROTTLES = {
    "hw_slowdown": "slowed by hardware",
    "hw_thermal_slowdown": "slowed by heat (hardware)",
    "hw_power_brake_slowdown": "slowed by power brake",
    "sw_thermal_slowdown": "slowed by heat",
}
"""Clock event reasons that are a problem; a power cap or an idle GPU is everyday life."""


def gpu_faults(gpu: Gpu) -> tuple[str, ...]:
    """Hard faults, worst first; empty when there are none."""
    found = (
        ("lost", gpu.lost is not None),
        (f"Xid {gpu.last_xid.xid}" if gpu.last_xid else "", gpu.last_xid is not None),
        (f"{gpu.ecc_uncorrected_count} uncorrected ECC", bool(gpu.ecc_uncorrected_count)),
        ("row remap failed", gpu.remapped_rows_failed is True),
    )
    return tuple(words for words, holds in found if holds)


def gpu_warnings(gpu: Gpu) -> tuple[str, ...]:
    """What needs a look, worst first."""
    return (
        *(THROTTLES[reason] for reason in gpu.clocks_event_reasons if reason in THROTTLES),
        *((f"hot, {gpu.temperature_celsius} °C",) if is_hot(gpu) else ()),
        *(("row remap pending",) if gpu.remapped_rows_pending else ()),
        *(orphan_in_words(orphan) for orphan in orphans(gpu)),
    )


def is_hot(gpu: Gpu) -> bool:
    """Whether the card is close to its own slowdown temperature; not when that is unknown."""
    limit, now = gpu.temperature_slowdown_celsius, gpu.temperature_celsius
    return limit is not None and now is not None and now >= limit - THERMAL_MARGIN_CELSIUS


def orphans(gpu: Gpu) -> tuple[GpuProcess, ...]:
    """Processes of no unit that hold more memory than a monitoring tool does."""
    return tuple(
        process
        for process in gpu.processes or ()
        if process.unit is None and (process.memory_used_bytes or 0) >= ORPHAN_FROM_BYTES
    )


def orphan_in_words(process: GpuProcess) -> str:
    """`12.0 GiB held by pid 4711 (python3), no unit`."""
    command = f" ({printable(process.command, limit=40)})" if process.command else ""
    return f"{human_bytes(process.memory_used_bytes)} held by pid {process.pid}{command}, no unit"


def health_role(gpu: Gpu) -> str:
    """The colour of its cell."""
    if gpu_faults(gpu):
        return "bad"
    if gpu_warnings(gpu):
        return "warn"
    return "ok" if is_used(gpu) else "off"


def is_used(gpu: Gpu) -> bool:
    """Whether something runs on it."""
    return bool(gpu.processes or gpu.utilization_percent)
