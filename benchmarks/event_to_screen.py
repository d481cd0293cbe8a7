"""A unit stops on a host: how long until the terminal says so, against asking over ssh every two seconds."""

from __future__ import annotations

import random
import subprocess
from typing import TYPE_CHECKING

from benchmarks import inventory
from benchmarks.row import Figure, Row
from benchmarks.setting import say
from benchmarks.terminal import Terminal

if TYPE_CHECKING:
    from benchmarks.setting import Setting
    from tests.fleet.harness.fleet import TestFleet

UNIT = "counter.service"
TARGET_MS = 250
LOOP = "while ssh -F {config} {host} systemctl show -P ActiveState -P SubState {unit}; do sleep 2; done"
STOPPED, RUNNING = rb"inactive|dead", rb"running"
UNIT_STOPPED = "9d1aaa27d60140bd96365438aad20286"
"""SD_MESSAGE_UNIT_STOPPED, see sd-messages.h."""
LIVE, OPEN_HOST = rb"live", b"\r"


def measure(setting: Setting) -> tuple[Row, ...]:
    fleet, host = setting.fleet, next(iter(setting.fleet.hosts))
    found = inventory.real(fleet, setting.folder / "event", (UNIT,))
    fleet.start(host, UNIT)
    runs = setting.runs(20)
    console = (*setting.command, "-c", str(found.hosts_toml))
    say(f"event_to_screen: the console, {runs} times")
    setting.wait_for_quiet()
    with Terminal(console, columns=200, rows=50, environment=setting.environment) as terminal:
        terminal.wait_for(LIVE)
        terminal.drain_until_quiet(0.5, seconds=5)
        terminal.press(OPEN_HOST)
        ours = _stops(fleet, host, terminal, runs)
    loop = LOOP.format(config=found.ssh_config, host=host, unit=UNIT)
    say(f"event_to_screen: the loop, {runs} times")
    setting.wait_for_quiet()
    with Terminal(("sh", "-c", loop), environment=setting.environment) as terminal:
        other = _stops(fleet, host, terminal, runs)
    how = "from the manager's journal entry to the read of the changed word from the 200×50 pty"
    return (Row("unit stopped → on screen", "ms", Figure("", ours), how, TARGET_MS, Figure("ssh loop of 2 s", other)),)


def _stops(fleet: TestFleet, host: str, terminal: Terminal, runs: int) -> tuple[float, ...]:
    terminal.wait_for(RUNNING)
    found = []
    for _ in range(runs):
        terminal.drain(random.uniform(1, 3))  # noqa: S311 - no phase of anybody's clock is preferred
        found.append(_stop(fleet, host, terminal))
        before = len(terminal.output)
        fleet.start(host, UNIT)
        terminal.wait_for(RUNNING, since=before)
    return tuple(found)


def _stop(fleet: TestFleet, host: str, terminal: Terminal) -> float:
    """Milliseconds from the manager's own word that the unit has stopped."""
    before = len(terminal.output)
    with subprocess.Popen(fleet.hosts[host].command("systemctl", "stop", UNIT)) as stopping:
        seen = terminal.wait_for(STOPPED, since=before)
        stopping.wait()
    return (seen - _stopped_at(fleet, host)) * 1000


def _stopped_at(fleet: TestFleet, host: str) -> float:
    """CLOCK_MONOTONIC, which is one for host and console: one kernel. The unit itself has been unloaded by now."""
    fleet.check(host, "journalctl", "--sync")
    entry = fleet.journal(host, UNIT, f"MESSAGE_ID={UNIT_STOPPED}", "-n1")[-1]
    return int(entry["__MONOTONIC_TIMESTAMP"]) / 1e6
