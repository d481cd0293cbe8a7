"""What is remembered while units live, for the day that one of them fails. Pure, and cheap to import."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflashtui.model.unit import ActiveState

if TYPE_CHECKING:
    from datetime import datetime

    from dflashtui.model.gpu import Gpu
    from dflashtui.model.host import HostSnapshot
    from dflashtui.model.unit import UnitStatus

ALIVE = frozenset({ActiveState.ACTIVE, ActiveState.RELOADING, ActiveState.REFRESHING, ActiveState.DEACTIVATING})
WAITING = frozenset({"auto-restart", "auto-restart-queued"})


class GpusBefore:
    """Remembers who held which GPU while a run lived; constant memory."""

    def __init__(self) -> None:
        self._last: dict[tuple[str, str], tuple[str, tuple[Gpu, ...], datetime | None]] = {}

    def take(self, host: HostSnapshot) -> None:
        """The newest values of a host."""
        for unit in host.units or ():
            if unit.main_pid and unit.invocation_id and host.gpus:
                self._last[host.name, unit.name] = unit.invocation_id, host.gpus, host.gpus_at

    def of(self, host: str, unit: str, run_id: str | None) -> tuple[tuple[Gpu, ...], datetime | None]:
        """All GPUs of the host when they were last read while this run lived; nothing if they never were."""
        known = self._last.get((host, unit))
        return (known[1], known[2]) if known and known[0] == run_id else ((), None)


def is_alive(unit: UnitStatus) -> bool:
    """Whether the newest run of a unit goes on."""
    starting = unit.active_state is ActiveState.ACTIVATING and unit.sub_state not in WAITING
    return unit.active_state in ALIVE or starting
