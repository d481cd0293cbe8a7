"""The last minutes of every GPU, kept from the snapshots that pass by."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from dflashtui.model.host import HostSnapshot
    from dflashtui.model.probe import GoodStart

KEPT_SAMPLES = 300
"""Ten minutes of a host in view, at one sample every 2 s."""


class Sample(NamedTuple):
    """One GPU at one moment, in percent of what it can; `None`: unknown."""

    at: datetime
    utilization: float | None
    memory: float | None
    power: float | None


class ServiceSample(NamedTuple):
    """One service at one moment; `None`: unknown."""

    at: datetime
    output_tokens_per_second: float | None
    running: int | None
    accept_length: float | None


class History:
    """A ring of samples for each GPU, and for each service."""

    def __init__(self, kept: int = KEPT_SAMPLES) -> None:
        self._kept = kept
        self._rings: dict[tuple[str, int], deque[Sample]] = {}
        self._services: dict[tuple[str, str], deque[ServiceSample]] = {}
        self.good_start: Callable[[str, str], GoodStart | None] = lambda _host, _unit: None
        """The last start of a unit of a host that became ready, as far as it was kept."""

    def note(self, host: HostSnapshot) -> None:
        """Keep what is new in a snapshot; one that was seen before adds nothing."""
        self._note_services(host)
        if host.gpus_at is None:
            return
        for gpu in host.gpus or ():
            ring = self._rings.setdefault((host.name, gpu.index), deque(maxlen=self._kept))
            if not ring or ring[-1].at < host.gpus_at:
                memory = percent(gpu.memory_used_bytes, gpu.memory_total_bytes)
                power = percent(gpu.power_watts, gpu.power_limit_watts)
                ring.append(Sample(host.gpus_at, gpu.utilization_percent, memory, power))

    def _note_services(self, host: HostSnapshot) -> None:
        for unit in host.units or ():
            if (load := unit.load) is None:
                continue
            ring = self._services.setdefault((host.name, unit.name), deque(maxlen=self._kept))
            if not ring or ring[-1].at < load.at:
                ring.append(ServiceSample(load.at, load.output_tokens_per_second, load.running, load.accept_length))

    def of_service(self, host: str, unit: str) -> tuple[ServiceSample, ...]:
        """The samples of a service, oldest first."""
        return tuple(self._services.get((host, unit), ()))

    def of(self, host: str, index: int) -> tuple[Sample, ...]:
        """The samples of a GPU, oldest first."""
        return tuple(self._rings.get((host, index), ()))


def percent(part: float | None, whole: float | None) -> float | None:
    """Part of a whole from 0 to 100; unknown when either is."""
    return None if part is None or not whole else 100 * part / whole
