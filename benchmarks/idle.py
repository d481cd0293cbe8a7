"""What the console costs while nobody touches it: 3 hosts, 8 GPUs each, a 200×50 terminal."""

from __future__ import annotations

import itertools
import time
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarks import inventory, isd
from benchmarks.processes import StartedOnHost, cpu_seconds, resident_bytes
from benchmarks.row import Figure, Row
from benchmarks.setting import say
from benchmarks.terminal import Terminal
from tests.fleet.harness import gpus
from tests.fleet.harness.fleet import GPU_STATE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from benchmarks.setting import Setting
    from tests.fleet.harness.fleet import TestFleet

LIVE = "live"
SPAN_SECONDS = 30
SETTLE_SECONDS = 12
CPU_TARGET_PERCENT, MEMORY_TARGET_MB, STARTED_TARGET = 3, 120, 0


@dataclass(frozen=True, slots=True)
class Span:
    """What one span of idling cost."""

    cpu_percent: float
    resident_mb: float
    started: int
    """On the hosts, by whomever."""


def measure(setting: Setting) -> tuple[Row, ...]:
    fleet = setting.fleet
    give_gpus_to_all(fleet)
    for host in fleet.hosts:
        for unit in inventory.RUNNING:
            fleet.start(host, unit)
    found = inventory.real(fleet, setting.folder / "idle", inventory.WATCHED)
    console, isd_environment = (*setting.command, "-c", str(found.hosts_toml)), isd.environment(setting)
    spans: dict[str, list[Span]] = {"still": [], "moving": [], "isd": [], "nobody": []}
    for turn in range(1, setting.runs(3) + 1):
        say(f"idle: {turn}, four times {SPAN_SECONDS + SETTLE_SECONDS} s")
        setting.wait_for_quiet()
        spans["nobody"].append(_nobody(fleet))
        spans["isd"].append(_span(fleet, setting.isd, isd.FIRST_UNIT, isd_environment, lambda: None))
        spans["still"].append(_span(fleet, console, LIVE, setting.environment, lambda: None))
        spans["moving"].append(_span(fleet, console, LIVE, setting.environment, mover(fleet)))
    return _rows(spans)


def _rows(spans: Mapping[str, list[Span]]) -> tuple[Row, ...]:
    how = f"200×50 pty, 3 hosts × 8 GPUs, {SPAN_SECONDS} s after {SETTLE_SECONDS} s"

    def figure(key: str, name: str, field: str) -> Figure:
        return Figure(name, tuple(float(getattr(span, field)) for span in spans[key]))

    isd_cpu, isd_memory, isd_started = (
        figure("isd", "isd, one host, no GPU", name) for name in ("cpu_percent", "resident_mb", "started")
    )
    quiet = figure("nobody", "", "started").median
    return (
        Row("idle CPU, GPU values still", "%", figure("still", "", "cpu_percent"), how, CPU_TARGET_PERCENT, isd_cpu),
        Row("idle CPU, all values moving", "%", figure("moving", "", "cpu_percent"), how, CPU_TARGET_PERCENT, isd_cpu),
        Row("resident memory", "MB", figure("moving", "", "resident_mb"), how, MEMORY_TARGET_MB, isd_memory),
        Row(
            "processes started on the hosts while idle", "", figure("moving", "", "started"),
            "ns_last_pid of each host's pid namespace, threads included", STARTED_TARGET, isd_started,
            notes=(f"with nobody connected: {quiet:g}",),
        ),
    )  # fmt: skip


def _nobody(fleet: TestFleet) -> Span:
    with ExitStack() as stack:
        readers = [stack.enter_context(StartedOnHost(host)) for host in fleet.hosts.values()]
        before = sum(reader.last_pid() for reader in readers)
        time.sleep(SPAN_SECONDS)  # the span itself, not a wait for something
        return Span(0, 0, sum(reader.last_pid() for reader in readers) - before)


def _span(
    fleet: TestFleet, argv: tuple[str, ...], shown: str, environment: Mapping[str, str], each_second: Callable[[], None]
) -> Span:
    with ExitStack() as stack:
        readers = [stack.enter_context(StartedOnHost(host)) for host in fleet.hosts.values()]
        terminal = stack.enter_context(Terminal(argv, columns=200, rows=50, environment=environment))
        terminal.wait_for(shown.encode())
        _let_run(terminal, SETTLE_SECONDS, each_second)
        pids, cpu, began = sum(reader.last_pid() for reader in readers), cpu_seconds(terminal.pid), time.monotonic()
        _let_run(terminal, SPAN_SECONDS, each_second)
        seconds, used = time.monotonic() - began, cpu_seconds(terminal.pid) - cpu
        started = sum(reader.last_pid() for reader in readers) - pids
        return Span(100 * used / seconds, resident_bytes(terminal.pid) / 1e6, started)


def _let_run(terminal: Terminal, seconds: int, each_second: Callable[[], None]) -> None:
    for _ in range(seconds):
        each_second()
        terminal.drain(1)


def give_gpus_to_all(fleet: TestFleet) -> None:
    """The fleet has one host without a driver; here all have eight GPUs, until the reset."""
    for position, host in enumerate(fleet.hosts.values()):
        if not host.has_gpus:
            fleet.write_file(host.name, f"/{gpus.LIBRARY}", gpus.library().read_bytes(), mode=0o755)
            fleet.write_file(host.name, "/usr/bin/nvidia-smi", gpus.program().read_bytes(), mode=0o755)
            fleet.write_file(host.name, f"/{gpus.BOOT_STATE}", gpus.default_state(position))
            fleet.write_file(host.name, GPU_STATE, gpus.default_state(position))
        else:
            fleet.set_driver(host.name, count=gpus.GPU_COUNT)  # from here on a reset puts its values back


def mover(fleet: TestFleet) -> Callable[[], None]:
    """A step that gives every GPU another load, power, heat and clock."""
    steps = itertools.count()

    def move() -> None:
        step = next(steps)
        for position, host in enumerate(fleet.hosts.values()):
            text = gpus.default_state(position)
            for index in range(gpus.GPU_COUNT):
                busy = (37 * step + 11 * index + 5 * position) % 101
                text = gpus.with_values(text, f"gpu.{index}.", _busy(busy))
            host.write_file(GPU_STATE, text.encode())

    return move


def _busy(percent: int) -> dict[str, object]:
    return {
        "utilization_gpu_percent": percent,
        "utilization_memory_percent": percent // 2,
        "memory_used_bytes": (percent + 20) << 30,
        "power_usage_milliwatts": 80_000 + 6_000 * percent,
        "temperature_celsius": 35 + percent // 3,
        "clock_sm_mhz": 345 + 16 * percent,
    }
