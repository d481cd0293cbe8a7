"""A follower of one host's journal: where it begins, what it doubts, and how it catches up with a flood."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Protocol

from dflashtui.errors import DecodeError, SourceUnavailable, TransportLost
from dflashtui.model.journal import JournalGap
from dflashtui.source.journal_access import NOT_FOUND, complaint
from dflashtui.source.journal_argv import (
    at_cursor_argv,
    follow_argv,
    follow_matches,
    from_cursor_argv,
    newest_argv,
    up_to_cursor_argv,
)
from dflashtui.source.journal_chunks import BEAT_SECONDS, chunks_of
from dflashtui.source.journal_cursor import ResumePoint, Start, start_at, start_since
from dflashtui.source.journal_history import first_entry, history_items
from dflashtui.source.journal_lag import Lag
from dflashtui.source.journal_place import place, stands_at_or_before
from dflashtui.source.journal_reading import Reading
from dflashtui.text import decoded, printable

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Sequence

    from dflashtui.model.journal import JournalItem
    from dflashtui.source.journal_argv import JournalAccess, Narrowing
    from dflashtui.source.journal_shed import Quota
    from dflashtui.transport.base import Completed, Stream, Transport

AHEAD = "the last entry that was read lies in the host's future (its clock was set back, or it was set up anew)"
DISCARDED = "the host's journalctl did not understand the place where reading stopped"
WHILE_READ = "the journal was vacuumed while it was read"
TAIL_LINES = 200
CAUGHT_UP_LIMIT_BYTES = 16 * 2**20


class Reader(Protocol):
    """What a follower needs of a `JournalReader`."""

    @property
    def transport(self) -> Transport:
        """The way to the host."""

    @property
    def access(self) -> JournalAccess:
        """How its journal may be read."""

    @property
    def clock(self) -> Callable[[], float]:
        """Monotonic, in seconds."""

    async def anchor(self, resume: ResumePoint) -> None:
        """Give a resume point that stands nowhere its place."""

    async def ask(self, argv: Sequence[str], limit_bytes: int = ...) -> Completed:
        """Run a command within a time limit."""


@dataclass(slots=True)
class Follower:
    """See `JournalReader.follow`."""

    reader: Reader
    units: frozenset[str]
    resume: ResumePoint
    quota: Quota | None = None
    narrowing: Narrowing | None = None
    _lag: Lag = field(default_factory=Lag)

    async def batches(self) -> AsyncGenerator[tuple[JournalItem, ...], None]:
        """Until journalctl ends by itself."""
        while True:
            start = await self._start()
            if start.gap:
                self.resume.doubt.settle()
                yield (_gap(start.gap),)
            async with (
                self.reader.transport.stream(self._argv(start)) as stream,
                chunks_of(stream, BEAT_SECONDS) as chunks,
            ):
                reading = self._reading(start)
                async for chunk in chunks:
                    items = await self._read(reading, chunk)
                    if items:
                        yield items
                    if self.quota and self._lag.flooding_unit:
                        break
                    await asyncio.sleep(0)  # a stream that has more at once would let nobody else in between
                else:
                    _ended(self.reader.transport.host, stream)
                    return
            yield await self._skip_ahead(self._lag.flooding_unit or "")

    def _argv(self, start: Start) -> tuple[str, ...]:
        filters = self.narrowing.filters if self.narrowing else ()
        return follow_argv(self.reader.access, follow_matches(self.units, self.reader.access), start.position, filters)

    def _reading(self, start: Start) -> Reading:
        manager, clock = self.reader.access.manager, self.reader.clock
        return Reading(self.resume, self.units, manager, repeats=start.repeats, quota=self.quota, clock=clock)

    async def _read(self, reading: Reading, chunk: bytes) -> tuple[JournalItem, ...]:
        before = replace(self.resume)
        items = reading.feed(chunk)
        now = self.reader.clock()
        self._lag.note(items, now)
        self.resume.behind_seconds = self._lag.seconds
        if self._doubts(before, items, now):
            return (*await self._vacuumed_since(before, now), *items)
        return items

    def _doubts(self, before: ResumePoint, items: Sequence[JournalItem], now: float) -> bool:
        """Whether to ask if something was vacuumed: before what was read now, or earlier."""
        doubt, silent = self.resume.doubt, now - before.moved_at if before.moved_at is not None else 0.0
        doubt.note(before.cursor, self.resume.cursor, sum(1 for item in items if item.cursor), now)
        return doubt.is_due(now, silent_seconds=silent, behind_seconds=self._lag.seconds)

    async def _start(self) -> Start:
        await self.reader.anchor(self.resume)
        if self.resume.cursor is None:
            return Start(())
        found = await self.reader.ask(at_cursor_argv(self.reader.access, self.resume.cursor))
        if found.exit_status != 0:
            return await self._by_time(f"{DISCARDED}: {complaint(found)}")
        if first := first_entry(found.stdout):
            return start_at(self.resume.cursor, first.cursor)
        return await self._by_time(AHEAD)

    async def _by_time(self, gap: str) -> Start:
        """As long ago on the host's clock as it was on ours, and a second for the way."""
        clock = (await self.reader.ask(("date", "+%s"))).check().stdout.strip()
        if not clock.isdigit():
            raise DecodeError("date +%s", clock)
        passed = self.reader.clock() - self.resume.moved_at if self.resume.moved_at is not None else 0.0
        return start_since(max(0, int(clock) - int(passed) - 1), gap)

    async def _vacuumed_since(self, before: ResumePoint, now: float) -> tuple[JournalGap, ...]:
        """A gap, if the entry is gone after which nothing is sure. What was read is not lost if the question fails."""
        doubt, seconds = self.resume.doubt, now - self.resume.doubt.since_seconds
        doubt.asked_at = now
        try:
            gap = await self._hole_after(doubt.since or "")
        except BaseException:
            self.resume.go_back(before)
            raise
        is_here = doubt.since == before.cursor
        doubt.settle()
        if gap is None:
            return ()
        return (_gap(gap if is_here else f"{WHILE_READ}: lines of the last {seconds:.0f} s may be missing above"),)

    async def _hole_after(self, cursor: str) -> str | None:
        """What is missing behind an entry, in words; `None`: it is still there, and so is all that follows."""
        found = await self.reader.ask(at_cursor_argv(self.reader.access, cursor))
        first = first_entry(found.check().stdout)
        return start_at(cursor, first.cursor if first else None).gap

    async def _skip_ahead(self, flooding: str) -> tuple[JournalItem, ...]:
        """Go to the newest entry; what the other units wrote on the way is read, of the flooding one the last lines."""
        access, start = self.reader.access, self.resume.cursor or ""
        newest = first_entry((await self.reader.ask(newest_argv(access))).check().stdout)
        others = follow_matches(self.units - {flooding}, access)
        done = _checked(await self.reader.ask(from_cursor_argv(access, start, others), CAUGHT_UP_LIMIT_BYTES))
        goal = place(newest.cursor if newest else None)
        came_to = replace(self.resume)
        reading = Reading(came_to, self.units, access.manager, repeats=start)
        items = [
            item for item in reading.feed(done.stdout) if not item.cursor or stands_at_or_before(item.cursor, goal)
        ]
        known = place(start)
        tail = await self._newest_of(flooding, newest.cursor) if newest else ()
        tail = tuple(item for item in tail if not item.cursor or not stands_at_or_before(item.cursor, known))
        hole = await self._hole_after(self.resume.doubt.since or start)
        skipped = max(0, _between(start, newest.cursor if newest else None) - len(items) - len(tail))
        if newest:
            self.resume.move(newest.cursor, newest.boot_id, self.reader.clock())
        self._lag = Lag()
        self.resume.doubt.settle()
        reason = f"{flooding} writes faster than its journal can be read: up to {skipped} lines were skipped"
        gap = JournalGap(at=datetime.now(UTC), reason=reason, unit=flooding, entries_lost=skipped)
        cut = (_gap("other units wrote too much to be read here"),) if done.truncated else ()
        return (*((_gap(hole),) if hole else ()), gap, *items, *cut, *tail)

    async def _newest_of(self, unit: str, cursor: str) -> tuple[JournalItem, ...]:
        """The last lines of a unit up to an entry: a flood that is over has its end on screen."""
        access = self.reader.access
        argv = up_to_cursor_argv(access, cursor, (unit,), TAIL_LINES)
        done = _checked(await self.reader.ask(argv, CAUGHT_UP_LIMIT_BYTES))
        return history_items(done, unit, access.manager, lines=TAIL_LINES, before=None)


def _gap(reason: str) -> JournalGap:
    return JournalGap(at=datetime.now(UTC), reason=reason)


def _checked(done: Completed) -> Completed:
    """What was cut at its limit has no status of its own."""
    return done if done.truncated else done.check()


def _between(first: str, last: str | None) -> int:
    """Entries of all units between two cursors of one journal; 0 where nobody knows."""
    here, there = place(first), place(last)
    if not here or not there or here.seqnum_id != there.seqnum_id:
        return 0
    return max(0, there.seqnum - here.seqnum)


def _ended(host: str, stream: Stream) -> None:
    status = stream.exit_status
    if status is None:
        raise TransportLost(host, "the follower of the journal ended without a status")
    said = printable(decoded(stream.stderr[-200:]).strip(), limit=200)
    if status == NOT_FOUND or (status != 0 and said.startswith("sudo:")):
        raise SourceUnavailable(host, "journal", said or "journalctl was not found on the host")
