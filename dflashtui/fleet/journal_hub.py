"""One host's journal: one follower, many readers, across connections."""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import aclosing, asynccontextmanager, suppress
from datetime import UTC, datetime
from time import monotonic
from typing import TYPE_CHECKING

from dflashtui.errors import (
    CommandFailed,
    CommandTimeout,
    DecodeError,
    DflashError,
    SourceUnavailable,
    TransportError,
    Unreachable,
)
from dflashtui.fleet.backoff import Backoff
from dflashtui.fleet.journal_feed import PERIOD_SECONDS
from dflashtui.fleet.journal_logs import UnitLogs
from dflashtui.model.journal import JournalEntry, JournalGap
from dflashtui.source.journal import JournalReader
from dflashtui.source.journal_access import journal_access
from dflashtui.source.journal_adopt import has_own_lines
from dflashtui.source.journal_argv import KERNEL, KERNEL_MISSED
from dflashtui.source.journal_cursor import ResumePoint
from dflashtui.source.journal_pieces import joined
from dflashtui.source.journal_shed import Quota

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Sequence
    from contextlib import AbstractAsyncContextManager

    from dflashtui.fleet.journal_feed import JournalFeed
    from dflashtui.model.journal import JournalItem
    from dflashtui.model.journal_query import JournalQuery
    from dflashtui.source.journal_argv import ManagerKind
    from dflashtui.transport.base import Transport

UNITS_SETTLE_SECONDS = 0.1
"""Several changes of the watched units in a row restart the follower once."""
HISTORY_RETRY_SECONDS = 1.0
SOURCE_TROUBLE = (SourceUnavailable, CommandFailed, CommandTimeout, DecodeError)
"""What ends the journal of a host, but not the link to it."""


def _ignore(_: object) -> None:
    """Nobody asked."""


class JournalHub:
    """Follows the watched units of a host and hands their items to readers, in order and each once.

    The owner calls `watch` with the unit names and `run` for each connection. All on one event loop.
    """

    def __init__(
        self,
        host: str,
        *,
        manager: ManagerKind = "system",
        become: str = "none",
        on_kernel: Callable[[tuple[JournalEntry, ...]], None] = _ignore,
        on_problem: Callable[[str | None], None] = _ignore,
        on_items: Callable[[Sequence[JournalItem]], None] = _ignore,
        quota: Quota | None = None,
    ) -> None:
        """`on_kernel`: the kernel's entries (Xid, OOM), in order; `on_problem`: why it cannot be read, or `None`."""
        self.host = host
        self.resume = ResumePoint()
        self.problem: str | None = None
        self._manager: ManagerKind = manager
        self._become = become
        self._on_kernel = on_kernel
        self._on_problem = on_problem
        self._on_items = on_items
        self._quota = quota or Quota()
        self._watched: frozenset[str] = frozenset()
        self._reader_counts: Counter[str] = Counter()
        self._logs = UnitLogs()
        self._reader: JournalReader | None = None
        self._followed: frozenset[str] = frozenset()
        self._scope: asyncio.Timeout | None = None
        self._news = asyncio.Event()

    @property
    def dropped_count(self) -> int:
        """Lines that came faster than they were taken."""
        return self._logs.dropped_count

    @property
    def behind_seconds(self) -> float:
        """How far what readers see is behind the host's present; over 5 s a flooding unit is skipped."""
        return self.resume.behind_seconds

    def watch(self, units: Iterable[str]) -> None:
        """Follow these units, by full name, whether anybody reads them or not."""
        self._watched = frozenset(units)
        self._units_changed()

    def publish(self, items: Sequence[JournalItem]) -> None:
        """Hand items to the readers of their units, the kernel's to the owner."""
        kernel = tuple(item for item in items if isinstance(item, JournalEntry) and _is_kernel(item))
        if kernel:
            self._on_kernel(kernel)
        self._on_items(items)
        self._logs.publish(items)

    async def run(self, transport: Transport) -> None:
        """Follow over an established transport until it is lost. Raises `TransportLost`; never returns.

        Trouble of the journal alone is told by `on_problem` and tried again, less and less often.
        """
        backoff = Backoff()
        try:
            while True:
                began = monotonic()
                try:
                    await self._serve(transport)
                except SOURCE_TROUBLE as trouble:
                    self._tell(trouble.reason if isinstance(trouble, SourceUnavailable) else str(trouble))
                await asyncio.sleep(backoff.next_seconds(lived_seconds=monotonic() - began))
        finally:
            self._reader = None

    def subscribe(
        self, unit: str, *, lines: int = 200
    ) -> AbstractAsyncContextManager[AsyncIterator[tuple[JournalItem, ...]]]:
        """The newest `lines` (at most 500) items at once, then live batches, across connections, nothing twice.

        The first batch may be empty. While the host cannot be reached for the first time there is none.
        """
        return self._subscribed(unit, lines)

    async def history(
        self, unit: str, *, lines: int, before: str | None = None, invocation_id: str | None = None
    ) -> tuple[JournalItem, ...]:
        """See `Fleet.history`. Raises `Unreachable` while there is no connection, and as `JournalReader.history`."""
        reader = self._reader_now()
        return joined(await reader.history(unit, lines=lines, before=before, invocation_id=invocation_id))

    async def page(self, unit: str, query: JournalQuery) -> tuple[JournalItem, ...]:
        """See `Fleet.journal_page`. Raises as `history`."""
        return joined(await self._reader_now().page(unit, query))

    async def fields(self, cursor: str) -> dict[str, str]:
        """See `Fleet.entry_fields`. Raises as `history`."""
        return await self._reader_now().fields(cursor)

    def _reader_now(self) -> JournalReader:
        if self.problem:
            raise SourceUnavailable(self.host, "journal", self.problem)
        if self._reader is None:
            raise Unreachable(self.host, "the journal cannot be read: not connected")
        return self._reader

    async def sync(self) -> bool:
        """See `Fleet.sync_journal`. Raises as `history`."""
        return self._reader is not None and await self._reader.sync()

    async def _serve(self, transport: Transport) -> None:
        """Follow until the follower ends by itself."""
        access = await journal_access(transport, manager=self._manager, become=self._become)
        reader = JournalReader(transport, access)
        # history is read only once this stands: between the two nothing can be missed
        await reader.anchor(self.resume)
        self._tell(None)
        self._reader = reader
        try:
            while await self._follow_until_units_change(reader):
                pass
        finally:
            # one-shot reads go on: a host may have no watch descriptors left for a follower
            self._followed = frozenset()
            self._announce()

    async def _follow_until_units_change(self, reader: JournalReader) -> bool:
        """Whether they did; otherwise the follower ended."""
        units = self._wanted()
        self._logs.cover(units)
        self._followed = units
        self._announce()
        scope = asyncio.timeout(None)
        try:
            async with scope, aclosing(reader.follow(units, self.resume, quota=self._quota)) as batches:
                self._scope = scope
                async for items in batches:
                    self.publish(items)
        except TimeoutError:
            return True
        finally:
            self._scope = None
        return False

    def _wanted(self) -> frozenset[str]:
        return self._watched | {unit for unit, count in self._reader_counts.items() if count > 0}

    def _units_changed(self) -> None:
        if self._scope and not self._scope.expired() and self._wanted() != self._followed:
            self._scope.reschedule(asyncio.get_running_loop().time() + UNITS_SETTLE_SECONDS)

    def _announce(self) -> None:
        self._news.set()
        self._news = asyncio.Event()

    def _tell(self, problem: str | None) -> None:
        if problem and problem != self.problem:
            self._logs.publish((self._gap(f"the journal cannot be read: {problem}"),))
        self.problem = problem
        self._on_problem(problem)
        self._announce()

    def _gap(self, reason: str, unit: str | None = None) -> JournalGap:
        return JournalGap(at=datetime.now(UTC), reason=reason, unit=unit)

    @asynccontextmanager
    async def _subscribed(self, unit: str, lines: int) -> AsyncIterator[AsyncIterator[tuple[JournalItem, ...]]]:
        self._reader_counts[unit] += 1
        self._units_changed()
        try:
            async with aclosing(self._items(unit, lines)) as items:
                yield items
        finally:
            self._reader_counts[unit] -= 1
            self._units_changed()

    async def _items(self, unit: str, lines: int) -> AsyncGenerator[tuple[JournalItem, ...], None]:
        trouble = await self._look_back(unit, lines)
        with self._logs.open(unit, lines) as (newest, feed):
            asking = asyncio.create_task(self._tell_whereabouts(unit, lines, newest, feed))
            try:
                yield joined((*((self._gap(trouble, unit),) if trouble else ()), *newest))
                while True:
                    yield await feed.take()
                    await asyncio.sleep(PERIOD_SECONDS)
            finally:
                asking.cancel()
                await asyncio.gather(asking, return_exceptions=True)

    async def _look_back(self, unit: str, lines: int) -> str | None:
        """Have the newest `lines` items in the unit's ring, or say why not. Without a link what is known will do."""
        while unit not in self._logs or not self._logs.ring(unit).reaches_back(lines):
            if self.problem:
                return f"the journal cannot be read: {self.problem}"
            reader = self._reader
            if reader is None and len(self._logs.ring(unit)):
                return None
            if reader is None or unit not in self._followed:
                await self._news.wait()
                continue
            try:
                await self._read_back(reader, unit, lines)
            except TransportError:
                await self._wait_a_moment()
            except DflashError as trouble:
                return f"older lines cannot be read: {trouble}"
            else:
                return None
        return None

    async def _tell_whereabouts(self, unit: str, lines: int, known: tuple[JournalItem, ...], feed: JournalFeed) -> None:
        """Why there are few lines of a unit, or none of its own; silence alone would be waited for without end.

        Beside the reader: no line of what comes meanwhile may be missed, or wait.
        """
        if not lines or self._reader is None or unit == KERNEL or (len(known) >= lines and has_own_lines(known)):
            return
        with suppress(DflashError):
            if why := await self._reader.whereabouts(unit):
                feed.put((self._gap(why, unit),))

    async def _read_back(self, reader: JournalReader, unit: str, lines: int) -> None:
        ring = self._logs.ring(unit)
        history = await reader.history(unit, lines=lines)
        ring.put_before(history, asked=lines)

    async def _wait_a_moment(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(HISTORY_RETRY_SECONDS):
                await self._news.wait()


def _is_kernel(entry: JournalEntry) -> bool:
    return entry.transport == "kernel" or (entry.transport == "driver" and entry.message_id == KERNEL_MISSED)
