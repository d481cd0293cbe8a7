"""What is wrong with services that run: hung, slow without a word, ended without a reason. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflashtui.model.finding import Level
from dflashtui.model.service import ServiceState

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dflashtui.model.gpu import Gpu
    from dflashtui.model.host import HostSnapshot
    from dflashtui.model.unit import UnitStatus

_Found = tuple[str, Level, str | None, str]
"""Rule with its thing, level, unit, message."""
BUSY_PERCENT = 30
CLOCK_SHARE = 0.85
"""Of the fastest GPU of a row: boost differs by a few percent from card to card."""
WORDS = {
    ServiceState.HUNG: (Level.FAILED, "is hung"),
    ServiceState.UNEXPECTED_EXIT: (Level.FAILED, "is gone"),
    ServiceState.DEGRADED: (Level.WARNING, "is slower than it should be"),
    ServiceState.WRONG_SERVICE: (Level.FAILED, "does not own its port"),
}


def service_findings(snapshot: HostSnapshot) -> Iterator[_Found]:
    """What figures and answers show of each service of a host."""
    for unit in snapshot.units or ():
        if unit.service in WORDS:
            level, words = WORDS[unit.service]
            detail = f": {unit.readiness_detail}" if unit.readiness_detail else ""
            yield f"{unit.service.value}:{unit.name}", level, unit.name, words + detail
        gpus = [gpu for gpu in snapshot.gpus or () if any(one.unit == unit.name for one in gpu.processes or ())]
        yield from _idle(unit, gpus)
        yield from _slow_one(unit, gpus)


def _idle(unit: UnitStatus, gpus: list[Gpu]) -> Iterator[_Found]:
    """Requests wait, and the GPUs have nothing to do."""
    load = unit.load
    is_idle = bool(gpus) and all(gpu.utilization_percent == 0 for gpu in gpus)
    if load and load.queued and is_idle:
        words = f"{load.queued} requests wait, and its GPUs are idle"
        yield f"gpu-idle:{unit.name}", Level.WARNING, unit.name, words


def _slow_one(unit: UnitStatus, gpus: list[Gpu]) -> Iterator[_Found]:
    """In a row of GPUs the slowest sets the pace."""
    busy = [gpu for gpu in gpus if (gpu.utilization_percent or 0) >= BUSY_PERCENT and gpu.clock_sm_mhz]
    fastest = max((gpu.clock_sm_mhz or 0 for gpu in busy), default=0)
    for gpu in busy:
        if (gpu.clock_sm_mhz or 0) < CLOCK_SHARE * fastest:
            why = f" ({', '.join(gpu.clocks_event_reasons)})" if gpu.clocks_event_reasons else ""
            words = f"GPU {gpu.index} runs at {gpu.clock_sm_mhz} MHz, others of its row at {fastest} MHz{why}"
            yield f"gpu-slow:{unit.name}:{gpu.index}", Level.WARNING, unit.name, words
