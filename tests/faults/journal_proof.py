"""Hosts whose services write numbered lines, everything that is done to the way there, and the account of the lines."""

from __future__ import annotations

import asyncio
import uuid
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dflashtui.cli.fleets import opener
from dflashtui.config.model import Config
from dflashtui.fleet.fleet import RealFleet
from dflashtui.model.host import LinkState
from dflashtui.model.journal import JournalGap
from tests.fleet.harness.clock import stepped_clock
from tests.fleet.push_hosts import through
from tests.support.tcp_proxy import tcp_proxy
from tests.support.until import until

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path
    from random import Random

    from dflashtui.model.journal import JournalItem
    from tests.fleet.harness.clock import SteppedClock
    from tests.fleet.harness.fleet import TestFleet
    from tests.support.tcp_proxy import TcpProxy

SCRIPT, COUNT = "/opt/fleet/numbered.py", "/run/numbered.count"
PROGRAM = f"""
import itertools, os, signal, sys, time
asked = []
signal.signal(signal.SIGTERM, lambda *_: asked.append(True))
count = os.open("{COUNT}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
for number in itertools.count(1):
    sys.stdout.write(f"line {{number}}\\n")
    sys.stdout.flush()
    os.pwrite(count, b"%d" % number, 0)
    if asked:
        sys.exit()
    time.sleep(0.04)
"""
SERVICE = f"""[Service]
LogRateLimitIntervalSec=1s
LogRateLimitBurst=1000000
ExecStart=/usr/bin/python3 {SCRIPT}
"""
JOURNALD = "systemd-journald.service"
STEPS_SECONDS = (-86400.0 * 400, -3600.0, -1.5, 1.5, 3600.0, 86400.0 * 400)
TICK_SECONDS = 0.01


@dataclass(slots=True)
class Account:
    """What one reader of a unit was given, line for line."""

    numbers: list[int] = field(default_factory=list)
    gaps: list[str] = field(default_factory=list)
    lost: int = 0
    """Lines that are missing under a gap line."""
    unsaid: list[tuple[int, int]] = field(default_factory=list)
    """Neighbours that are none, with no gap line between."""
    doubled: list[tuple[int, int]] = field(default_factory=list)
    """A line after a later one, or twice."""
    _gap_here: bool = False

    def take(self, items: tuple[JournalItem, ...]) -> None:
        """The next items, in the order in which they were given."""
        for item in items:
            if isinstance(item, JournalGap):
                self.gaps.append(item.text)
                self._gap_here = True
            elif item.message.startswith("line "):
                self._line(int(item.message.removeprefix("line ")))

    @property
    def newest(self) -> int:
        """The last number."""
        return self.numbers[-1] if self.numbers else 0

    def _line(self, number: int) -> None:
        if self.numbers and number <= self.newest:
            self.doubled.append((self.newest, number))
        elif number != self.newest + 1:
            self._missing(number)
        self.numbers.append(number)
        self._gap_here = False

    def _missing(self, number: int) -> None:
        if self._gap_here:
            self.lost += number - self.newest - 1
        else:
            self.unsaid.append((self.newest, number))


@dataclass(slots=True)
class Trial:
    """One host: its service, the proxy in front of its sshd, its clock, and what the console showed of it."""

    fleet: TestFleet
    host: str
    unit: str
    proxy: TcpProxy
    clock: SteppedClock
    rng: Random
    account: Account = field(default_factory=Account)
    cuts: int = 0
    done: list[str] = field(default_factory=list)
    """What was done, in order; for the one who looks for a fault."""

    def written(self) -> int:
        """The service's own count of its lines."""
        try:
            return int(self.fleet.read_file(self.host, COUNT) or 0)
        except FileNotFoundError:  # it has not begun yet
            return 0

    async def seen_on(self) -> None:
        """Return when a line has come that was written after this was called."""
        written = await asyncio.to_thread(self.written)
        await until(lambda: self.account.newest > written)

    async def finish(self) -> None:
        """Stop the service, and return when its last line has come."""
        await asyncio.to_thread(self.fleet.stop, self.host, self.unit)
        last = await asyncio.to_thread(self.written)
        await until(lambda: self.account.newest >= last)

    async def cut(self) -> None:
        """Once, somehow, somewhere: in the login, in a line, in the silence between."""
        ways = (self._cut_now, self._cut_after_bytes, self._cut_after_bytes, self._cut_frozen, self._cut_again)
        way = self.rng.choice(ways)
        self.done.append(f"{self.account.newest}: {way.__name__}")
        await way()

    async def _cut_now(self) -> None:
        self.cuts += 1
        self.proxy.cut()

    async def _cut_after_bytes(self) -> None:
        await self._bytes(int(10 ** self.rng.uniform(0, 4)))

    async def _cut_frozen(self) -> None:
        self.proxy.freeze()
        await asyncio.sleep(self.rng.uniform(0.05, 0.4))
        self.proxy.thaw()
        await self._cut_now()

    async def _cut_again(self) -> None:
        """At once, and once more during the next login or the first questions after it."""
        await self._cut_now()
        await self._bytes(self.rng.randrange(12_000))

    async def _bytes(self, count: int) -> None:
        limit = self.proxy.passed_bytes + count
        self.proxy.cut_after_bytes = limit
        await until(lambda: self.proxy.passed_bytes >= limit)
        self.proxy.cut_after_bytes = None
        self.cuts += 1

    async def trouble_journald(self) -> None:
        """Perhaps: rotation, vacuum, restart, kill, or a step of the clock."""
        ways = (self._rotate, self._rotate, self._vacuum, self._restart, self._kill, self._step, self._step)
        if self.rng.random() < 0.7:
            return
        way = self.rng.choice(ways)
        self.done.append(f"{self.account.newest}: {way.__name__}")
        await asyncio.to_thread(way)

    def _rotate(self) -> None:
        self.fleet.check(self.host, "journalctl", "--rotate")

    def _vacuum(self) -> None:
        self.fleet.check(self.host, "journalctl", "--rotate", "--vacuum-files=1")

    def _restart(self) -> None:
        self.fleet.exec(self.host, "systemctl", "reset-failed", JOURNALD)
        self.fleet.check(self.host, "systemctl", "restart", JOURNALD)

    def _kill(self) -> None:
        self.fleet.exec(self.host, "systemctl", "reset-failed", JOURNALD)
        self.fleet.check(self.host, "systemctl", "kill", "--signal=KILL", JOURNALD)

    def _step(self) -> None:
        far = abs(self.clock.offset_seconds) > abs(STEPS_SECONDS[0])
        self.clock.set(0.0) if far else self.clock.step(self.rng.choice(STEPS_SECONDS))

    def check(self) -> None:
        """Nothing lost unsaid, nothing twice, nothing out of order, nothing that was never written."""
        told = f"{self.host}: {self.done[-40:]}, gaps {self.account.gaps[-10:]}"
        assert self.account.unsaid == [], told
        assert self.account.doubled == [], told
        assert len(self.account.numbers) + self.account.lost == self.written(), told

    @property
    def figures(self) -> str:
        """One line for the report."""
        account = self.account
        return (
            f"{self.host}: {self.cuts} cuts, {self.written()} lines written, {len(account.numbers)} given, "
            f"{account.lost} under {len(account.gaps)} gap lines, {len(account.unsaid)} lost unsaid, "
            f"{len(account.doubled)} doubled"
        )


@asynccontextmanager
async def trials(fleet: TestFleet, rng: Random, folder: Path) -> AsyncIterator[list[Trial]]:
    """Three hosts, each behind a proxy, its service followed as the console does it, over all cuts."""
    async with AsyncExitStack() as stack:
        prepared = [await _prepare(stack, fleet, name, rng) for name in fleet.hosts]
        hosts = tuple(through(fleet, one.host, one.proxy.port, folder) for one in prepared)
        real = RealFleet(Config(hosts=hosts), opener(), sources=frozenset({"journal"}))
        await stack.enter_async_context(real)
        group = await stack.enter_async_context(asyncio.TaskGroup())
        for one in prepared:
            for task in (group.create_task(_read(real, one)), group.create_task(_impatient(real, one.host))):
                stack.callback(task.cancel)
        await asyncio.gather(*(one.seen_on() for one in prepared))
        yield prepared


async def _prepare(stack: AsyncExitStack, fleet: TestFleet, host: str, rng: Random) -> Trial:
    clock = stack.enter_context(stepped_clock(fleet.hosts[host]))
    proxy = await stack.enter_async_context(tcp_proxy(22, fleet.hosts[host].address))
    fleet.write_file(host, SCRIPT, PROGRAM)
    unit = f"counter-{uuid.uuid4().hex[:8]}.service"
    fleet.write_file(host, f"/run/systemd/system/{unit}", SERVICE)
    fleet.check(host, "systemctl", "daemon-reload")
    fleet.start(host, unit)
    return Trial(fleet, host, unit, proxy, clock, rng)


async def _read(real: RealFleet, trial: Trial) -> None:
    async with real.follow(trial.host, trial.unit, lines=500) as batches:
        async for items in batches:
            trial.account.take(items)


async def _impatient(real: RealFleet, host: str) -> None:
    """A person who asks to try again whenever the host is said to be away."""
    while True:
        if real.snapshot(host).link.state is LinkState.UNREACHABLE:
            real.refresh(host)
        await asyncio.sleep(TICK_SECONDS)
