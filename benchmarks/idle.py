"""What the console costs while nobody touches it: 3 hosts, 8 GPUs each, a 200×50 terminal."""

from __future__ import annotations

import itertools
import time
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarks import inventory, isd
from benchmarks.processes import cpu_seconds, resident_bytes
from benchmarks.row import Figure, Row
from benchmarks.setting import say
from benchmarks.starts import Starts
from benchmarks.terminal import Terminal
from tests.fleet.harness import gpus
from tests.fleet.harness.fleet import GPU_STATE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from benchmarks.setting import Setting
    from tests.fleet.harness.fleet import TestFleet

LIVE = "live"
QUIET, TALKATIVE = "sglang-ok.service", "counter.service"
SPAN_SECONDS = 30
SETTLE_SECONDS = 12
CPU_TARGET, MEMORY_TARGET_MB, STARTED_TARGET = 3, 120, 0
ISD = "isd, one host, no GPU"


@dataclass(frozen=True, slots=True)
class Span:
    """What one span of idling cost."""

    cpu_percent: float
    resident_mb: float
    started: tuple[str, ...]
    """Names of the processes that began on the hosts, by whomever."""


def measure(setting: Setting) -> tuple[Row, ...]:
    fleet = setting.fleet
    give_gpus_to_all(fleet)
    for host in fleet.hosts:
        fleet.start(host, QUIET)
    found = inventory.real(fleet, setting.folder / "idle", inventory.WATCHED)
    console, isd_environment = (*setting.command, "-c", str(found.hosts_toml)), isd.environment(setting)
    spans: dict[str, list[Span]] = {"still": [], "moving": [], "talking": [], "isd": [], "nobody": []}
    for turn in range(1, setting.runs(3) + 1):
        say(f"idle: {turn}, five times {SPAN_SECONDS + SETTLE_SECONDS} s")
        setting.wait_for_quiet()
        spans["nobody"].append(_nobody(fleet))
        spans["isd"].append(_span(fleet, setting.isd, isd.FIRST_UNIT, isd_environment, lambda: None))
        spans["still"].append(_span(fleet, console, LIVE, setting.environment, lambda: None))
        spans["moving"].append(_span(fleet, console, LIVE, setting.environment, mover(fleet)))
        for host in fleet.hosts:
            fleet.start(host, TALKATIVE)
        spans["talking"].append(_span(fleet, console, LIVE, setting.environment, mover(fleet)))
        for host in fleet.hosts:
            fleet.stop(host, TALKATIVE)
    return _rows(spans)


def _rows(spans: Mapping[str, list[Span]]) -> tuple[Row, ...]:
    how = f"200×50 pty, 3 hosts × 8 GPUs, {SPAN_SECONDS} s after {SETTLE_SECONDS} s"
    still, moving, isd_spans = spans["still"], spans["moving"], spans["isd"]
    isd_cpu = _figure(isd_spans, lambda span: span.cpu_percent, ISD)
    return (
        Row("idle CPU, GPU values still", "%", _figure(still, lambda span: span.cpu_percent), how, CPU_TARGET, isd_cpu),
        Row(
            "idle CPU, all values moving", "%", _figure(moving, lambda span: span.cpu_percent), how, CPU_TARGET, isd_cpu
        ),
        Row("  … and 150 log lines a second", "%", _figure(spans["talking"], lambda span: span.cpu_percent), how),
        Row(
            "resident memory",
            "MB",
            _figure(moving, lambda span: span.resident_mb),
            how,
            MEMORY_TARGET_MB,
            _figure(isd_spans, lambda span: span.resident_mb, ISD),
        ),
        Row(
            "processes started on the hosts while idle",
            "",
            _figure((*still, *moving), lambda span: len(span.started)),
            "forks of the hosts' own processes, told by the kernel",
            STARTED_TARGET,
            notes=tuple(
                f"{who}: {', '.join(sorted(name for span in some for name in span.started)) or 'none'}"
                for who, some in (("nobody connected", spans["nobody"]), ("console", (*still, *moving)))
            ),
        ),
    )


def _figure(spans: Sequence[Span], value: Callable[[Span], float], name: str = "") -> Figure:
    return Figure(name, tuple(map(value, spans)))


def _nobody(fleet: TestFleet) -> Span:
    with Starts(host.cgroup for host in fleet.hosts.values()) as starts:
        for _ in range(SPAN_SECONDS):
            time.sleep(1)  # the span itself, not a wait for something
            starts.read()
        return Span(0, 0, tuple(starts.names.values()))


def _span(
    fleet: TestFleet, argv: tuple[str, ...], shown: str, environment: Mapping[str, str], each_second: Callable[[], None]
) -> Span:
    with ExitStack() as stack:
        starts = stack.enter_context(Starts(host.cgroup for host in fleet.hosts.values()))
        terminal = stack.enter_context(Terminal(argv, columns=200, rows=50, environment=environment))
        terminal.wait_for(shown.encode())
        _let_run(terminal, SETTLE_SECONDS, each_second, starts)
        starts.forget()
        cpu, began = cpu_seconds(terminal.pid), time.monotonic()
        _let_run(terminal, SPAN_SECONDS, each_second, starts)
        seconds, used = time.monotonic() - began, cpu_seconds(terminal.pid) - cpu
        return Span(100 * used / seconds, resident_bytes(terminal.pid) / 1e6, tuple(starts.names.values()))


def _let_run(terminal: Terminal, seconds: int, each_second: Callable[[], None], starts: Starts) -> None:
    for _ in range(seconds):
        each_second()
        terminal.drain(1)
        starts.read()


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
