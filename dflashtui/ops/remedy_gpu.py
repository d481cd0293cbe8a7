"""What a host's snapshot says about the GPUs and the memory of a unit that failed. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from dflashtui.model.xids import meaning
from dflashtui.ops.remedy_value import HostRemedy
from dflashtui.text import human_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from dflashtui.model.finding import Cause
    from dflashtui.model.gpu import Gpu, GpuProcess, Xid
    from dflashtui.model.host import HostSnapshot
    from dflashtui.model.unit import UnitStatus

MOST_PROCESSES = 8
XID_IN_WORDS = re.compile(r"\bXid(?: \(PCI:[^)]*\))?:? (?P<xid>\d+)")


def gpus_of_unit(host: HostSnapshot, unit: str, meant: Sequence[int | str], visible: str | None) -> tuple[Gpu, ...]:
    """The GPUs that a unit uses: those that it holds, that the inventory means, or that its environment shows it.

    `visible`: its CUDA_VISIBLE_DEVICES. Nobody says: all of them.
    """
    names = {str(one) for one in meant} | {part.strip() for part in (visible or "").split(",") if part.strip()}
    everything = host.gpus or ()
    mine = tuple(
        gpu
        for gpu in everything
        if str(gpu.index) in names
        or (
            gpu.uuid is not None and any(name and gpu.uuid.startswith(name) for name in names if name.startswith("GPU"))
        )
        or any(process.unit == unit for process in gpu.processes or ())
    )
    return mine or everything


def memory_lines(gpus: Sequence[Gpu]) -> tuple[str, ...]:
    """Who holds the memory of each GPU, by unit: `GPU 1: 57.0 GiB of 95.6 GiB: sglang-a.service 54.0 GiB (pid 471)`."""
    return tuple(f"GPU {gpu.index}: {_used(gpu)}{_holders(gpu)}" for gpu in gpus)


def _used(gpu: Gpu) -> str:
    if gpu.lost:
        return f"lost: {gpu.lost}"
    return f"{human_bytes(gpu.memory_used_bytes)} of {human_bytes(gpu.memory_total_bytes)} used"


def _holders(gpu: Gpu) -> str:
    if gpu.lost or gpu.processes is None:
        return ""
    if not gpu.processes:
        return ", no process"
    most = sorted(gpu.processes, key=lambda process: -(process.memory_used_bytes or 0))[:MOST_PROCESSES]
    return ": " + ", ".join(f"{_whose(one)} {human_bytes(one.memory_used_bytes)} (pid {one.pid})" for one in most)


def _whose(process: GpuProcess) -> str:
    return process.unit or process.held_by or "no unit"


def memory_remedies(host: HostSnapshot, unit: str, gpus: Sequence[Gpu]) -> tuple[HostRemedy, ...]:
    """Out of GPU memory: who holds it, and what is left over of nobody's."""
    others = [gpu for gpu in gpus if any(process.unit != unit for process in gpu.processes or ())]
    title = "others hold memory on its GPUs" if others else "nobody else holds memory on its GPUs now"
    who = HostRemedy(title=title, details=memory_lines(gpus))
    return (who, *(_end(process, gpu) for gpu, process in _orphans(host, gpus)))


def _orphans(host: HostSnapshot, gpus: Sequence[Gpu]) -> Iterator[tuple[Gpu, GpuProcess]]:
    """Processes of no unit; those that a login session or a container holds are somebody's."""
    seen: set[int] = set()
    names = {unit.name for unit in host.units or ()}
    for gpu in gpus:
        for process in gpu.processes or ():
            is_orphan = process.unit is None and process.held_by is None and process.pid > 1
            if is_orphan and process.pid not in seen and process.unit not in names:
                seen.add(process.pid)
                yield gpu, process


def _end(process: GpuProcess, gpu: Gpu) -> HostRemedy:
    what = f"{human_bytes(process.memory_used_bytes)} on GPU {gpu.index}, {process.command or 'command not known'}"
    why = f"it ends process {process.pid}, which belongs to no unit"
    return HostRemedy.of(
        f"end the left-over process {process.pid}", ("kill", "-TERM", str(process.pid)), (what,), (why,)
    )


def fault_remedies(
    cause: Cause, host: HostSnapshot, unit: str, gpus: Sequence[Gpu], xids: Sequence[Xid]
) -> tuple[HostRemedy, ...]:
    """A GPU fault: the Xid and its meaning, and who shares the GPU."""
    numbers = dict.fromkeys([*(xid.xid for xid in xids), *_told(cause)])
    found = [_xid(number, xids, gpus) for number in numbers]
    hit = {xid.pci_bus_id for xid in xids}
    concerned = [gpu for gpu in gpus if gpu.lost or gpu.pci_bus_id in hit] or list(gpus)
    return (*found, *_sharing(host, unit, concerned))


def _told(cause: Cause) -> Iterator[int]:
    for match in XID_IN_WORDS.finditer(cause.message):
        yield int(match["xid"])


def _xid(number: int, xids: Sequence[Xid], gpus: Sequence[Gpu]) -> HostRemedy:
    known = meaning(number)
    names = {gpu.pci_bus_id: f"GPU {gpu.index}" for gpu in gpus}
    where = [f"{names.get(one.pci_bus_id, one.pci_bus_id)}: {one.message}" for one in xids if one.xid == number]
    if known is None:
        return HostRemedy(title=f"Xid {number}: look it up in NVIDIA's Xid catalog", details=tuple(where))
    return HostRemedy(title=f"Xid {number}, {known.words}: {known.advice}", details=tuple(where))


def _sharing(host: HostSnapshot, unit: str, gpus: Sequence[Gpu]) -> tuple[HostRemedy, ...]:
    """Before a reset or reboot: who else is on these GPUs."""
    units = {
        process.unit: gpu.index
        for gpu in gpus
        for process in gpu.processes or ()
        if process.unit is not None and process.unit != unit
    }
    if not gpus or len(gpus) == len(host.gpus or ()):
        return ()
    indexes = ", ".join(str(gpu.index) for gpu in gpus)
    if not units:
        return (HostRemedy(title=f"no other unit runs on GPU {indexes}"),)
    lines = tuple(f"{name} on GPU {index}" for name, index in units.items())
    return (HostRemedy(title=f"other units share GPU {indexes}: stop them before a reset", details=lines),)


def host_memory_remedies(host: HostSnapshot, unit: str) -> tuple[HostRemedy, ...]:
    """The host's memory ran out, or the unit's own limit was reached."""
    status = host.unit(unit)
    kills = [kill for kill in host.oom_kills if kill.unit in {unit, None}]
    limit = status.memory_max_bytes if status else None
    details = [
        *(f"MemoryMax={human_bytes(limit)} of {unit}" for _ in (limit,) if limit),
        *(
            f"pid {kill.pid} ({kill.process_name or '?'}) held {human_bytes(kill.anon_rss_bytes)}: "
            f"{'the limit of its unit' if kill.is_cgroup_limit else 'the memory of the host'}"
            for kill in kills[-3:]
        ),
        *(f"{one.name}: {human_bytes(one.memory_current_bytes)}" for one in _largest(host)),
    ]
    by_limit = any(kill.is_cgroup_limit for kill in kills)
    title = (
        "raise MemoryMax= of the unit, or make it need less" if by_limit else "see which units hold the host's memory"
    )
    return (HostRemedy(title=title, details=tuple(details)),) if details else ()


def _largest(host: HostSnapshot) -> Sequence[UnitStatus]:
    known = [one for one in host.units or () if one.memory_current_bytes]
    return sorted(known, key=lambda one: -(one.memory_current_bytes or 0))[:4]
