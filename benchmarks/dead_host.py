"""A path dies without a word: how long until the screen says so, against an ssh session that a person has open."""

from __future__ import annotations

import random
import subprocess
import time
from typing import TYPE_CHECKING

from benchmarks import inventory
from benchmarks.row import Figure, Row
from benchmarks.setting import say
from benchmarks.terminal import NeverSeenError
from tests.support.pty_screen import PtyScreen

if TYPE_CHECKING:
    from benchmarks.inventory import Inventory
    from benchmarks.setting import Setting
    from tests.fleet.harness.fleet import TestFleet

TARGET_SECONDS = 10
ALL_UP, ONE_LOST = "hosts 3/3 up", "hosts 2/3 up"
BACK_SECONDS = 70
PATIENCE_SECONDS = 120
"""Beyond that a session counts as not having noticed: TCP alone takes a quarter of an hour."""
FOLLOWED = ("journalctl", "-f", "-n0")
ALIVE = ("-o", "ServerAliveInterval=15", "-o", "ServerAliveCountMax=3")
"""What most guides advise; ssh_config(5) has it switched off."""


def measure(setting: Setting) -> tuple[Row, ...]:
    fleet, host = setting.fleet, list(setting.fleet.hosts)[1]
    found = inventory.real(fleet, setting.folder / "dead")
    say("dead_host: ssh, with and without ServerAliveInterval")
    kept, plain = _sessions(fleet, found, host)
    runs = setting.runs(10)
    setting.wait_for_quiet()
    ours = _ours(setting, found, host, runs)
    said = "never" if plain is None else f"{plain:.0f} s"
    note = f"plain ssh, as it comes: {said} within {PATIENCE_SECONDS} s; ours at most {max(ours):.1f} s"
    other = Figure("ssh with ServerAliveInterval=15", (PATIENCE_SECONDS if kept is None else kept,))
    how = "a black hole on the host's side, at no particular moment, until the header of a 120×40 pty counts it out"
    return (Row("dead path → on screen", "s", Figure("", ours), how, TARGET_SECONDS, other, notes=(note,)),)


def _ours(setting: Setting, found: Inventory, host: str, runs: int) -> tuple[float, ...]:
    """One console; the path comes back between the turns."""
    fleet, seconds = setting.fleet, []
    argv = (*setting.command, "-c", str(found.hosts_toml))
    with PtyScreen(argv, columns=120, rows=40, environment=setting.environment) as screen:
        screen.sees(ALL_UP)
        for turn in range(runs):
            say(f"dead_host: {turn + 1} of {runs}")
            _read_for(screen, random.uniform(2, 6))  # noqa: S311 - no phase of the keepalive is preferred
            fleet.cut(host)
            cut_at = time.perf_counter()
            try:
                screen.sees(ONE_LOST)
                seconds.append(time.perf_counter() - cut_at)
            finally:
                fleet.join(host)
            screen.press("ctrl+r")  # do not wait for the next attempt
            screen.wait(lambda text: ALL_UP in text, seconds=BACK_SECONDS)
    return tuple(seconds)


def _read_for(screen: PtyScreen, seconds: float) -> None:
    until = time.perf_counter() + seconds
    while (left := until - time.perf_counter()) > 0:
        screen.read(left)


def _sessions(fleet: TestFleet, found: Inventory, host: str) -> tuple[float | None, float | None]:
    """How long two ssh sessions took to end, with `ALIVE` and without; `None`: they believed on."""
    argv = ("ssh", "-F", str(found.ssh_config))
    sessions = [_begun((*argv, *options, host, *FOLLOWED)) for options in (ALIVE, ())]
    time.sleep(3)
    if any(one.poll() is not None for one in sessions):
        raise NeverSeenError("ssh did not stay connected")
    fleet.cut(host)
    cut_at = time.perf_counter()
    try:
        return _ended(sessions[0], cut_at), _ended(sessions[1], cut_at)
    finally:
        fleet.join(host)
        for one in sessions:
            one.kill()
            one.wait()


def _begun(argv: tuple[str, ...]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def _ended(session: subprocess.Popen[bytes], cut_at: float) -> float | None:
    try:
        session.wait(max(0.0, cut_at + PATIENCE_SECONDS - time.perf_counter()))
    except subprocess.TimeoutExpired:
        return None
    return time.perf_counter() - cut_at
