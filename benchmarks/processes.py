"""What processes cost, from /proc and control groups, and who runs first."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

TICKS = os.sysconf("SC_CLK_TCK")


def tree(pid: int) -> list[int]:
    """A process and its living descendants."""
    found = [pid]
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in task.read_text().split():
            found += tree(int(child))
    return found


def cpu_seconds(pid: int) -> float:
    """All threads, all children, those too that have ended (proc(5), stat fields 14 to 17)."""
    return sum(_cpu_ticks(one) for one in tree(pid)) / TICKS


def _cpu_ticks(pid: int) -> int:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return sum(map(int, fields[11:15]))


def resident_bytes(pid: int) -> int:
    """Rss of smaps_rollup, children included."""
    return sum(_resident_bytes(one) for one in tree(pid))


def _resident_bytes(pid: int) -> int:
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("Rss:"))


def hosts_cpu_seconds(cgroups: Iterable[Path]) -> float:
    """What all processes of some hosts have used since their boot (cgroup v2, usage_usec of cpu.stat)."""
    return sum(int((cgroup / "cpu.stat").read_text().split()[1]) for cgroup in cgroups) / 1e6


def schedule(cgroups: Iterable[Path], policy: int, *, priority: int) -> None:
    """Set the scheduler of this program and of every thread in some hosts; what they start inherits it."""
    os.sched_setscheduler(0, policy, os.sched_param(priority))
    for procs in (file for cgroup in cgroups for file in cgroup.rglob("cgroup.procs")):
        for pid in procs.read_text().split():
            for task in Path(f"/proc/{pid}/task").glob("*"):
                with suppress(ProcessLookupError):
                    os.sched_setscheduler(int(task.name), policy, os.sched_param(priority))
