"""What processes cost, from /proc: CPU and memory of a program with its children, processes started on a host."""

from __future__ import annotations

import os
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Iterable
    from types import TracebackType

    from tests.fleet.harness.host import Host

TICKS = os.sysconf("SC_CLK_TCK")
READER = """
import sys
for _ in sys.stdin:
    with open("/proc/sys/kernel/ns_last_pid") as file:
        print(file.read().strip(), flush=True)
"""


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


class StartedOnHost:
    """Counts what is started on a host: the last process id that its pid namespace gave out.

    Exact, threads included; read by one process that stays inside, so that looking starts nothing.
    """

    def __init__(self, host: Host) -> None:
        argv = host.command("python3", "-u", "-c", READER)
        self._reader = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def last_pid(self) -> int:
        if not self._reader.stdin or not self._reader.stdout:
            raise AssertionError("both are pipes")
        self._reader.stdin.write(b"\n")
        self._reader.stdin.flush()
        return int(self._reader.stdout.readline())

    def __enter__(self) -> Self:
        self.last_pid()  # it has started
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._reader.stdin:
            self._reader.stdin.close()
        self._reader.wait(5)
        if self._reader.stdout:
            self._reader.stdout.close()
