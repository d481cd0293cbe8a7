"""The console for ten minutes (`DFLASHTUI_SOAK_SECONDS`) on three hosts that write, two of which come and go."""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING, NamedTuple

import pytest

from tests.faults.leftovers import left, require_clean
from tests.faults.marks import fault
from tests.faults.seed import SEED, seeded
from tests.faults.soak import Flapping, Sample, curve, sample, slope, waited_seconds
from tests.fleet.test_console import console

if TYPE_CHECKING:
    from pathlib import Path

    from tests.fleet.harness.fleet import TestFleet
    from tests.support.pty_screen import PtyScreen

SOAK_SECONDS = float(os.environ.get("DFLASHTUI_SOAK_SECONDS") or 600)
LINES_PER_SECOND = 200
FLAPPING = ("gpu-b", "gpu-c")
WATCHED = '["flood.service", "counter.service"]'
MOST_SAMPLE_SECONDS = 5.0
QUIT_EVERY_SECONDS, QUIT_SECONDS = (15.0, 40.0), 1.0
MEMORY_SLOPE_KIB, MEMORY_LIMIT_KIB = 1024, 300 * 1024
WARM_UP = 0.3
"""Of the time, until caches and logs are full."""


class Quit(NamedTuple):
    """From the key to the end of the process."""

    seconds: float
    waited_seconds: float
    """Of these, at least so long for a core that others had."""
    how: str

    @property
    def own_seconds(self) -> float:
        """What it would have taken on cores of its own."""
        return self.seconds - self.waited_seconds


class Soak:
    """One console that stays, others that are left at any moment, and what was measured of them."""

    def __init__(self, fleet: TestFleet, screen: PtyScreen, folder: Path) -> None:
        self._fleet, self.screen, self._folder = fleet, screen, folder
        self._chances = seeded("quits")
        self.flapping = [Flapping(fleet, host, seeded(host)) for host in FLAPPING]
        self.samples: list[Sample] = []
        self.quits: list[Quit] = []

    def run(self) -> None:
        """To the end of the time."""
        end = time.monotonic() + SOAK_SECONDS
        while (now := time.monotonic()) < end:
            self._for_seconds(min(end - now, self._chances.uniform(*QUIT_EVERY_SECONDS)))
            self.quits.append(self._a_visit())

    def _for_seconds(self, seconds: float, *others: PtyScreen) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for screen in (self.screen, *others):
                screen.read(0.02)
            self._keep_watch()

    def _keep_watch(self) -> None:
        for path in self.flapping:
            path.turn()
        if not self.samples or time.monotonic() - self.samples[-1].at_seconds > MOST_SAMPLE_SECONDS:
            self.samples.append(sample(self.screen.child.pid))

    def _a_visit(self) -> Quit:
        """Another console, left after a while."""
        with console(self._fleet, self._folder / "visit", watched=WATCHED) as visit:
            while "hosts" not in visit.text:
                self._for_seconds(0.1, visit)
            seconds = self._chances.uniform(0, 12)
            self._for_seconds(seconds, visit)
            return left_by_key(visit, f"after {seconds:.1f} s, {', '.join(map(str, self.flapping))}", self.screen)

    def settle(self) -> None:
        """Every path is there again, and every host is seen."""
        for host in FLAPPING:
            self._fleet.join(host)
        self.screen.press("ctrl+r")
        self.screen.wait(lambda text: "hosts 3/3 up" in text, seconds=70)

    @property
    def warm(self) -> list[Sample]:
        """The samples behind the warm-up."""
        return self.samples[int(len(self.samples) * WARM_UP) :]

    def report(self) -> str:
        """In one paragraph."""
        first, last = self.warm[0], self.warm[-1]
        share = (last.cpu_seconds - first.cpu_seconds) / (last.at_seconds - first.at_seconds)
        worst = max(self.quits, key=lambda one: one.own_seconds)
        cuts = sum(path.cuts for path in self.flapping)
        peak = max(one.memory_kib for one in self.samples)
        return (
            f"soak of {SOAK_SECONDS:.0f} s, seed {SEED}: {cuts} cuts; memory {slope(self.warm, 'memory_kib'):+.0f} KiB"
            f" a minute, peak {peak / 1024:.0f} MiB; descriptors {slope(self.warm, 'descriptors'):+.2f} a minute,"
            f" at most {max(one.descriptors for one in self.samples):.0f}; CPU {share:.0%};"
            f" {len(self.quits)} quits, longest {worst.own_seconds:.2f} s, and {worst.waited_seconds:.2f} s for a core"
            f" ({worst.how})"
            f"; memory over time {curve(self.samples)} MiB"
        )


@fault(
    "H8",
    how="a console for ten minutes, 200 lines a second of each host, two of three hosts black-holed by chance",
    result="memory and descriptors flat, left within 1 s at any moment, hosts clean",
    stand_in="24 h with 10 hosts",
)
@fault("A3", how="the same: paths go and come back many times", result="one login and one follower on each host")
@pytest.mark.long
@pytest.mark.timeout(SOAK_SECONDS + 240)
def test_soak(fleet: TestFleet, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "visit").mkdir()
    before = {host: left(fleet, host) for host in fleet.hosts}
    for host in fleet.hosts:
        fleet.write_file(host, "/etc/fleet/flood.env", f"LINES=0\nRATE={LINES_PER_SECOND}\n")
        fleet.start(host, "flood.service")
    with console(fleet, tmp_path, watched=WATCHED) as screen:
        screen.sees("hosts 3/3 up")
        screen.press("5")
        for host in fleet.hosts:
            require_one_login(fleet, host, screen)
        descriptors = sample(screen.child.pid).descriptors
        soak = Soak(fleet, screen, tmp_path)
        soak.run()
        soak.settle()
        for host in fleet.hosts:
            require_one_login(fleet, host, screen)
        assert sample(screen.child.pid).descriptors <= descriptors + 4
        soak.quits.append(left_by_key(screen, "at the end"))
        assert screen.child.returncode == 0
    with capsys.disabled():
        sys.stdout.write(f"\n{soak.report()}\n")
    for host in fleet.hosts:
        fleet.stop(host, "flood.service")
        require_clean(fleet, host, before[host])
    require_flat(soak)


def left_by_key(screen: PtyScreen, how: str, *others: PtyScreen) -> Quit:
    """Press ctrl+q and wait for the end, reading every terminal meanwhile."""
    before = waited = waited_seconds(screen.child.pid)
    screen.press("ctrl+q")
    pressed = time.monotonic()
    while screen.child.poll() is None:
        waited = max(waited, waited_seconds(screen.child.pid))
        screen.read(0.005)
        for other in others:
            other.read(0)
        assert time.monotonic() - pressed < 20, f"it stays ({how}):\n{screen.text}"
    return Quit(time.monotonic() - pressed, waited - before, how)


def require_one_login(fleet: TestFleet, host: str, screen: PtyScreen) -> None:
    """A3: no follower and no login of an earlier connection, as soon as its end has come through."""
    deadline = time.monotonic() + 30
    while (now := left(fleet, host)).logins != 1 or now.followers != 1:
        assert time.monotonic() < deadline, f"{host}: {now.sockets}, {now.processes}"
        screen.read(0.2)


def require_flat(soak: Soak) -> None:
    """Of the whole process, behind the warm-up."""
    assert max(one.memory_kib for one in soak.samples) < MEMORY_LIMIT_KIB
    assert slope(soak.warm, "memory_kib") < MEMORY_SLOPE_KIB, soak.report()
    assert abs(slope(soak.warm, "descriptors")) < 1, soak.report()
    assert max(one.own_seconds for one in soak.quits) <= QUIT_SECONDS, sorted(soak.quits)
