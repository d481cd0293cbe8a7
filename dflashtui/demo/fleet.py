"""The simulated fleet, behind the interface of the real one."""

from __future__ import annotations

import asyncio
from contextlib import aclosing, asynccontextmanager, nullcontext
from typing import TYPE_CHECKING, Self

from dflashtui.demo import commands, journal, paging
from dflashtui.demo.actions import begin
from dflashtui.demo.casting import cast
from dflashtui.demo.clock import StandingClock
from dflashtui.demo.host import DemoHost
from dflashtui.demo.noise import noise
from dflashtui.demo.run import SECOND_USEC
from dflashtui.demo.texts import properties, unit_file
from dflashtui.errors import CommandFailed, DflashError, SourceUnavailable
from dflashtui.fleet.board import Board, utc_now
from dflashtui.fleet.results import failed_result, job_result

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
    from contextlib import AbstractContextManager
    from datetime import datetime
    from types import TracebackType

    from dflashtui.config.model import Config
    from dflashtui.demo.service import Service
    from dflashtui.fleet.base import Change
    from dflashtui.model.action import ActionResult, UnitAction
    from dflashtui.model.host import HostSnapshot
    from dflashtui.model.journal import JournalItem
    from dflashtui.model.journal_query import JournalQuery
    from dflashtui.transport.base import Completed, Stream

TICK_SECONDS = 0.5
SEEN_SECONDS, UNSEEN_SECONDS, UNSEEN_ON_LARGE_SECONDS = 2.0, 5.0, 10.0
LARGE_FLEET = 100


class DemoFleet:
    """Brings an inventory to life. With a `StandingClock` nothing moves but by `advance` and by actions.

    The same inventory, seed and clock give the same values: pictures can be repeated.
    """

    is_demo = True

    def __init__(
        self, config: Config, *, clock: Callable[[], datetime] = utc_now, seed: int = 1, is_hostile: bool = False
    ) -> None:
        """`is_hostile`: descriptions, commands and lines try to act upon the terminal; for tests."""
        self._clock = clock
        born = clock().timestamp()
        self._hosts = {plan.name: DemoHost(plan, seed, born) for plan in cast(config, seed, is_hostile=is_hostile)}
        self._board = Board((host.before_contact() for host in self._hosts.values()), clock)
        self._sampled = dict.fromkeys(self._hosts, 0.0)
        self._seen: frozenset[str] = frozenset()
        self._ticked = asyncio.Condition()
        self._tasks = asyncio.TaskGroup()
        self._ticker: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        await self._tasks.__aenter__()
        if not isinstance(self._clock, StandingClock):
            self._ticker = self._tasks.create_task(self._tick_on())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._ticker is not None:
            self._ticker.cancel()
        await self._tasks.__aexit__(kind, error, trace)

    @property
    def names(self) -> tuple[str, ...]:
        """Host names, in the order of the inventory."""
        return self._board.names

    def snapshot(self, host: str) -> HostSnapshot:
        """The newest values. Raises `KeyError`."""
        return self._board[host]

    @asynccontextmanager
    async def subscribe(self) -> AsyncIterator[AsyncIterator[Change]]:
        """Every host once at once, then each change. On a standing clock the hosts connect at this moment."""
        with self._board.subscribe() as changes:
            if isinstance(self._clock, StandingClock):
                await self.advance(0)
            yield changes

    async def advance(self, seconds: float) -> None:
        """Let time pass on a standing clock."""
        if isinstance(self._clock, StandingClock):
            self._clock.advance(seconds)
            for host in self._hosts.values():
                host.connect()
        await self._tick(everything=True)

    @asynccontextmanager
    async def follow(
        self, host: str, unit: str, *, lines: int = 200
    ) -> AsyncIterator[AsyncIterator[tuple[JournalItem, ...]]]:
        """The last `lines` items of a unit's journal once its host answers, then live batches."""
        async with aclosing(self._follow(host, unit, lines)) as batches:
            yield batches

    async def _follow(self, host: str, unit: str, count: int) -> AsyncGenerator[tuple[JournalItem, ...]]:
        there = self._hosts[host]
        while not there.answers(self._now()) or unit not in there.services:
            await self._next_tick()
        service, read_usec = there.services[unit], self._now_usec()
        yield journal.before(service, read_usec, count)
        while True:
            await self._next_tick()
            now_usec = self._now_usec()
            batch = tuple(journal.between(service, read_usec, now_usec))
            read_usec = now_usec
            if batch:
                yield batch

    async def history(
        self, host: str, unit: str, *, lines: int, before: str | None = None, invocation_id: str | None = None
    ) -> tuple[JournalItem, ...]:
        """Up to `lines` items, oldest first, that stand before the cursor `before` (default: the newest)."""
        until_usec = self._now_usec() if before is None else journal.usec_of(before) - 1
        return journal.before(self._service(host, unit), until_usec, lines, invocation_id)

    async def journal_page(self, host: str, unit: str, query: JournalQuery) -> tuple[JournalItem, ...]:
        """What a query asks for, oldest first."""
        return paging.page(self._service(host, unit), query, self._now_usec())

    async def entry_fields(self, host: str, unit: str, cursor: str) -> dict[str, str]:
        """What journald would have kept of an entry."""
        return paging.fields(self._service(host, unit), cursor)

    async def sync_journal(self, host: str) -> bool:
        """Nothing is ever on its way."""
        return self._hosts[host].answers(self._now())

    def hurry(self, host: str, unit: str) -> AbstractContextManager[Callable[[], None]]:  # noqa: ARG002 - the interface
        """Readiness is known at every moment."""
        return nullcontext(lambda: None)

    async def perform(self, action: UnitAction) -> ActionResult:
        """Carry out an action; it takes as long as on a real host (on a standing clock: no time of ours)."""
        started_at = self._clock()
        began = started_at.timestamp()
        try:
            job = begin(self._hosts[action.host], action, began)
        except DflashError as refused:
            return failed_result(action, refused, started_at, 0.0)
        self._post(action.host)
        await self._wait_until(job.done_at)
        return job_result(action, job.result, "bus", started_at, round(job.done_at - began, 3))

    async def unit_file(self, host: str, unit: str) -> str:
        """As `systemctl cat` shows it. Raises `DflashError`."""
        return unit_file(self._service(host, unit))

    async def properties(self, host: str, unit: str) -> dict[str, str]:
        """Every property as `systemctl show` words it. Raises `DflashError`."""
        return properties(self._service(host, unit), self._now())

    async def ask(self, host: str, argv: Sequence[str], *, stdin: bytes = b"") -> Completed:  # noqa: ARG002 - the interface
        """What a command says that only looks."""
        return commands.answer(self._there(host), argv)

    @asynccontextmanager
    async def command(self, host: str, argv: Sequence[str]) -> AsyncIterator[Stream]:
        """A command that changes the host."""
        yield commands.run(self._there(host), argv, is_at_once=isinstance(self._clock, StandingClock))

    async def open_tcp(self, host: str, address: str, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """The demo's services have no port."""
        raise SourceUnavailable(host, f"{address}:{port}", "the demo's services cannot be asked")

    def proven(self, host: str, unit: str, words: str) -> None:
        """The demo's services are never asked."""

    def look_at(self, hosts: Sequence[str]) -> None:
        """These hosts are on screen: sampled every 2 s, the others less often."""
        self._seen = frozenset(hosts)

    def refresh(self, host: str | None = None) -> None:
        """Read now."""
        for name in self._hosts if host is None else (host,):
            self._post(name)

    def acknowledge(self, host: str) -> None:
        """The host's Xid faults were seen; they no longer count as alarms."""
        self._hosts[host].is_acknowledged = True
        self._post(host)

    async def _next_tick(self) -> None:
        async with self._ticked:
            await self._ticked.wait()

    def _now(self) -> float:
        return self._clock().timestamp()

    def _now_usec(self) -> int:
        return int(self._now() * SECOND_USEC)

    def _there(self, host: str) -> DemoHost:
        """Raises `SourceUnavailable` while the host is not there."""
        there = self._hosts[host]
        if not there.answers(self._now()):
            raise SourceUnavailable(host, "journal", "no connection to the host")
        return there

    def _service(self, host: str, unit: str) -> Service:
        """Raises `SourceUnavailable` while the host is not there, `CommandFailed` for an unknown unit."""
        there = self._there(host)
        if unit not in there.services:
            raise CommandFailed(host, ("systemctl", "cat", "--", unit), 1, f"No files found for {unit}.")
        return there.services[unit]

    async def _tick_on(self) -> None:
        while True:
            await self._tick(everything=False)
            await asyncio.sleep(TICK_SECONDS)

    async def _tick(self, *, everything: bool) -> None:
        now = self._now()
        for name, host in self._hosts.items():
            has_changed = host.advance(now)
            if everything or has_changed or self._is_due(name, now):
                self._post(name)
        async with self._ticked:
            self._ticked.notify_all()

    def _is_due(self, name: str, now: float) -> bool:
        """Whether its next sample is due; hosts take turns, so that no tick has to do all of them."""
        unseen = UNSEEN_ON_LARGE_SECONDS if len(self._hosts) > LARGE_FLEET else UNSEEN_SECONDS
        period = SEEN_SECONDS if name in self._seen else unseen
        turn = period * noise(name)
        return (now - turn) // period > (self._sampled[name] - turn) // period

    def _post(self, name: str) -> None:
        now = self._now()
        if self._hosts[name].is_connected(now):
            self._sampled[name] = now
            self._board.post(self._hosts[name].snapshot(now))

    async def _wait_until(self, moment: float) -> None:
        if isinstance(self._clock, StandingClock):
            await self.advance(max(0.0, moment - self._now()) + 1e-3)
            return
        while self._now() < moment:
            await self._next_tick()
