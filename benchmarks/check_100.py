"""`dflashtui --check` on 100 entries, against OpenSSH by xargs that asks each host the same."""

from __future__ import annotations

import json
import resource
import subprocess
import time
from dataclasses import dataclass, replace
from statistics import median
from typing import TYPE_CHECKING

from benchmarks import inventory
from benchmarks.processes import hosts_cpu_seconds
from benchmarks.row import Figure, Row
from benchmarks.setting import say

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from benchmarks.inventory import Inventory
    from benchmarks.setting import Setting

ENTRIES = 100
TARGET_SECONDS = 2.5
TIMES_BETTER = 2
FIELDS = (
    "index,uuid,name,driver_version,utilization.gpu,memory.total,memory.used,power.draw,temperature.gpu,clocks.sm,"
    "clocks_event_reasons.active,mig.mode.current,ecc.errors.uncorrected.volatile.total"
)
FORMAT = "--format=csv,noheader,nounits"
ASKED = (
    "systemctl show --property=Version; "
    f"systemctl show {' '.join(inventory.WATCHED)}; "
    f"nvidia-smi --query-gpu={FIELDS} {FORMAT}; "
    f"nvidia-smi --query-compute-apps=pid,gpu_uuid,used_memory,process_name {FORMAT}"
)
"""What the check asks, as a person's loop would: units with all their properties, GPUs, processes on them."""


@dataclass(frozen=True, slots=True)
class Look:
    """One pass over all entries."""

    seconds: float
    failed: int
    cpu_seconds: float
    """Of the asking side, children included."""
    hosts_cpu_seconds: float
    """Of the three hosts together."""


def measure(setting: Setting) -> tuple[Row, ...]:
    for host in setting.fleet.hosts:
        for unit in inventory.RUNNING:
            setting.fleet.start(host, unit)
    found = inventory.many(setting.fleet, setting.folder / "check_100", ENTRIES)
    ways: dict[str, Callable[[], Look]] = {
        "ours": lambda: _ours(setting.command, found, setting.environment),
        "the same": lambda: _xargs(found, ASKED, setting.environment),
        "only `true`": lambda: _xargs(found, "echo Version=", setting.environment),
    }
    looks: dict[str, list[Look]] = {name: [] for name in ways}
    cgroups = [host.cgroup for host in setting.fleet.hosts.values()]
    for turn in range(setting.runs(7) + 1):
        say(f"check_100: {turn or 'warming up'}")
        setting.wait_for_quiet()
        for name, look in ways.items():
            used = hosts_cpu_seconds(cgroups)
            once = look()
            if turn:
                looks[name].append(replace(once, hosts_cpu_seconds=hosts_cpu_seconds(cgroups) - used))
    return tuple(_row(looks, other, times) for other, times in (("the same", TIMES_BETTER), ("only `true`", None)))


def _row(looks: Mapping[str, list[Look]], other: str, times: float | None) -> Row:
    notes = tuple(
        f"{name}: {sum(look.failed for look in some)} of {ENTRIES * len(some)} entries failed; "
        f"{median(look.cpu_seconds for look in some):.1f} s CPU here, "
        f"{median(look.hosts_cpu_seconds for look in some):.1f} s CPU on the hosts"
        for name, some in looks.items()
        if name in {"ours", other}
    )
    return Row(
        what=f"--check --json, {ENTRIES} entries" if times else "  … against a bare login each",
        unit="s",
        ours=Figure("", tuple(look.seconds for look in looks["ours"])),
        other=Figure(f"xargs -P16 ssh, {other}", tuple(look.seconds for look in looks[other])),
        target=TARGET_SECONDS,
        times_better=times,
        how=f"{ENTRIES} names, 3 real hosts, sshd's defaults; wall time from exec to exit",
        notes=notes,
    )


def _ours(command: tuple[str, ...], found: Inventory, environment: Mapping[str, str]) -> Look:
    began, used = time.perf_counter(), _cpu()
    done = subprocess.run(
        (*command, "--check", "--json", "-c", found.hosts_toml), capture_output=True, check=False, env=dict(environment)
    )
    seconds = time.perf_counter() - began
    up = sum(host["state"] == "up" for host in json.loads(done.stdout)["hosts"])
    return Look(seconds, len(found.names) - up, _cpu() - used, 0)


def _xargs(found: Inventory, asked: str, environment: Mapping[str, str]) -> Look:
    """A host has answered if its manager's version came."""
    argv = ("xargs", "-P16", "-I{}", "ssh", "-F", str(found.ssh_config), "{}", asked)
    began, used = time.perf_counter(), _cpu()
    done = subprocess.run(
        argv, input="\n".join(found.names).encode(), capture_output=True, check=False, env=dict(environment)
    )
    seconds = time.perf_counter() - began
    answers = done.stdout.count(b"Version=")
    return Look(seconds, len(found.names) - answers, _cpu() - used, 0)


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
