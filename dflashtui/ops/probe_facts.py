"""What a host's snapshots tell of one unit beside its state: signs of life, and faults that the kernel saw. Pure."""

from __future__ import annotations

from signal import Signals
from typing import TYPE_CHECKING

from dflashtui.model.probe import SignsOfLife
from dflashtui.model.xids import meaning

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from datetime import datetime

    from dflashtui.model.gpu import Gpu, Xid
    from dflashtui.model.host import HostSnapshot
    from dflashtui.model.kernel import OomKill
    from dflashtui.model.unit import UnitStatus

EXITED = 1


class Facts:
    """Takes each snapshot; what was there before the probe is not news."""

    def __init__(self, unit: str, gpus: tuple[int | str, ...], first: HostSnapshot) -> None:
        """`gpus`: indexes or UUIDs that are meant for the unit."""
        self.neighbours: tuple[str, ...] = ()
        """Faults of this unit's processes and GPUs, in words."""
        self._unit = unit
        self._meant = gpus
        self._boot_id = first.boot_id
        self._known: set[Xid | OomKill] = {*first.xids, *first.oom_kills}
        self._first_gpu_bytes: int | None = None
        self._news: list[tuple[str, datetime]] = []
        self._life = SignsOfLife()
        self._pids: set[int] = set()

    def is_rebooted(self, snapshot: HostSnapshot) -> bool:
        """Whether the host was restarted since the first snapshot that told its boot id."""
        self._boot_id = self._boot_id or snapshot.boot_id
        return snapshot.boot_id not in {None, self._boot_id}

    def take(self, snapshot: HostSnapshot, pids: Collection[int]) -> None:
        """`pids`: processes that are known to have written to the run's log."""
        unit = snapshot.unit(self._unit)
        mine = [gpu for gpu in snapshot.gpus or () if self._is_mine(gpu)]
        self._pids |= {*pids, *self._of_gpus(mine)} | ({unit.main_pid} if unit and unit.main_pid else set())
        self._note_life(unit, mine)
        for xid in snapshot.xids:
            if xid not in self._known and (xid.pid in self._pids or xid.pci_bus_id in {gpu.pci_bus_id for gpu in mine}):
                self._note(xid, _xid_line(xid), _xid_words(xid), xid.at)
        for kill in snapshot.oom_kills:
            if kill not in self._known and (kill.unit == self._unit or kill.pid in self._pids):
                self._note(kill, _oom_line(kill), _oom_words(kill), kill.at)

    def kernel_news(self) -> list[tuple[str, datetime]]:
        """Faults since the last call, as lines of the kernel."""
        news, self._news = self._news, []
        return news

    def life(self, last_line_at: datetime | None) -> SignsOfLife:
        """The newest signs."""
        return self._life.model_copy(update={"last_line_at": last_line_at})

    def _is_mine(self, gpu: Gpu) -> bool:
        held = any(process.unit == self._unit for process in gpu.processes or ())
        return held or gpu.index in self._meant or gpu.uuid in self._meant

    def _of_gpus(self, gpus: list[Gpu]) -> Iterator[int]:
        for gpu in gpus:
            yield from (process.pid for process in gpu.processes or () if process.unit == self._unit)

    def _note_life(self, unit: UnitStatus | None, gpus: list[Gpu]) -> None:
        held = [
            process.memory_used_bytes or 0
            for gpu in gpus
            for process in gpu.processes or ()
            if process.unit == self._unit
        ]
        total = sum(held) if any(gpu.processes is not None for gpu in gpus) else None
        if self._first_gpu_bytes is None:
            self._first_gpu_bytes = total
        grown = None if total is None or self._first_gpu_bytes is None else total - self._first_gpu_bytes
        nanoseconds = unit.cpu_usage_nsec if unit else None
        self._life = SignsOfLife(
            cpu_percent=unit.cpu_percent if unit else None,
            cpu_seconds=None if nanoseconds is None else nanoseconds / 1e9,
            memory_bytes=unit.memory_current_bytes if unit else None,
            gpu_memory_bytes=total,
            gpu_memory_grown_bytes=grown,
        )

    def _note(self, fault: Xid | OomKill, line: str, words: str, at: datetime) -> None:
        self._known.add(fault)
        self._news.append((line, at))
        self.neighbours = (*self.neighbours, words)


def exit_of(unit: UnitStatus | None) -> tuple[int | None, str | None]:
    """Exit code and signal (`KILL`) of a run that has ended; `None` for what it has not."""
    if unit is None or not unit.exec_main_code or unit.exec_main_status is None:
        return None, None
    if unit.exec_main_code == EXITED:
        return unit.exec_main_status, None
    try:
        return None, Signals(unit.exec_main_status).name.removeprefix("SIG")
    except ValueError:
        return None, str(unit.exec_main_status)


def _xid_line(xid: Xid) -> str:
    """As the driver writes it, for the diagnosis."""
    pid = f", pid={xid.pid}" if xid.pid is not None else ""
    name = f", name={xid.process_name}" if xid.process_name else ""
    return f"NVRM: Xid (PCI:{xid.pci_bus_id}): {xid.xid}{pid}{name}, {xid.message}"


def _xid_words(xid: Xid) -> str:
    known = meaning(xid.xid)
    about = known.words if known else xid.message or "not in the list of common Xids"
    return f"Xid {xid.xid} at {xid.pci_bus_id}: {about}"


def _oom_line(kill: OomKill) -> str:
    scope = "Memory cgroup out of memory" if kill.is_cgroup_limit else "Out of memory"
    return f"{scope}: Killed process {kill.pid} ({kill.process_name or 'unknown'})"


def _oom_words(kill: OomKill) -> str:
    limit = "its own memory limit" if kill.is_cgroup_limit else "the host ran out of memory"
    return f"the kernel killed pid {kill.pid} ({kill.process_name or 'unknown'}): {limit}"
