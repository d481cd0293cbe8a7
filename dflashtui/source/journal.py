"""A host's journal: followed from a resume point, and read back on demand."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from time import monotonic
from typing import TYPE_CHECKING

from dflashtui.errors import CommandTimeout, DecodeError, SourceUnavailable, TransportLost
from dflashtui.model.journal import JournalGap
from dflashtui.source.journal_access import NOT_FOUND, complaint, complete
from dflashtui.source.journal_argv import (
    Narrowing,
    at_cursor_argv,
    follow_argv,
    follow_matches,
    history_argv,
    invocation_matches,
    newest_argv,
    unit_matches,
)
from dflashtui.source.journal_cursor import Start, start_at, start_since
from dflashtui.source.journal_entry import decode_entry
from dflashtui.source.journal_history import HISTORY_LIMIT_BYTES, history_items
from dflashtui.source.journal_reading import Reading
from dflashtui.text import decoded, printable

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Collection

    from dflashtui.model.journal import JournalEntry, JournalItem
    from dflashtui.source.journal_argv import JournalAccess
    from dflashtui.source.journal_cursor import ResumePoint
    from dflashtui.source.journal_shed import Quota
    from dflashtui.transport.base import Completed, Stream, Transport

ANSWER_SECONDS = 30
"""A one-shot read of a journal on a slow disk."""
AHEAD = "the last entry that was read lies in the host's future (its clock was set back, or it was set up anew)"
DISCARDED = "the host's journalctl did not understand the place where reading stopped"


@dataclass(frozen=True, slots=True)
class JournalReader:
    """One host's journal over one established transport."""

    transport: Transport
    access: JournalAccess

    async def anchor(self, resume: ResumePoint) -> None:
        """Put a resume point that stands nowhere at the newest entry of all, so that following leaves no hole.

        In an empty journal that is before all entries to come.
        """
        if resume.cursor is None and not resume.is_before_all:
            newest = _first_entry((await self._ask(newest_argv(self.access))).check().stdout)
            if newest:
                resume.move(newest.cursor, newest.boot_id, monotonic())
            else:
                resume.is_before_all = True

    async def follow(
        self,
        units: Collection[str],
        resume: ResumePoint,
        *,
        quota: Quota | None = None,
        narrowing: Narrowing | None = None,
    ) -> AsyncGenerator[tuple[JournalItem, ...], None]:
        """What comes after the resume point about these units and from the kernel, in the journal's order.

        A resume point that stands nowhere is put at the newest entry.
        `resume` is moved with each batch, also past entries that are not given. Where something may be missing
        a `JournalGap` stands. Without `quota` a slow reader slows journalctl down instead. Ends when journalctl
        ended (then go on from `resume`); raises `TransportLost`, `SourceUnavailable`, `CommandTimeout`.
        """
        start = await self._start(resume)
        if start.gap:
            yield (JournalGap(at=datetime.now(UTC), reason=start.gap),)
        reading = Reading(resume, units, self.access.manager, repeats=start.repeats, quota=quota)
        filters = narrowing.filters if narrowing else ()
        matches = follow_matches(units, self.access)
        async with self.transport.stream(follow_argv(self.access, matches, start.position, filters)) as stream:
            async for chunk in stream:
                if items := reading.feed(chunk):
                    yield items
            self._ended(stream)

    async def history(
        self,
        unit: str,
        *,
        lines: int | None,
        before: str | None = None,
        invocation_id: str | None = None,
        narrowing: Narrowing | None = None,
    ) -> tuple[JournalItem, ...]:
        """The newest `lines` items of a unit or of one run of it, oldest first, or those that stand before a cursor.

        More than 64 MiB of JSON is cut at the old end, with a gap there. Raises `TransportLost`, `CommandFailed`
        (for instance a cursor or `--since` that is not understood), `SourceUnavailable`, `CommandTimeout`.
        """
        of_run = invocation_matches(invocation_id, self.access) if invocation_id else None
        argv = history_argv(
            self.access,
            of_run or unit_matches((unit,), self.access),
            lines=lines,
            before=before,
            narrowing=narrowing or Narrowing(),
        )
        done = await self._ask(argv, HISTORY_LIMIT_BYTES)
        if not done.truncated:
            done.check()
        return history_items(done, unit, self.access.manager, lines=lines, before=before)

    async def _start(self, resume: ResumePoint) -> Start:
        await self.anchor(resume)
        if resume.cursor is None:
            return Start(())
        found = await self._ask(at_cursor_argv(self.access, resume.cursor))
        if found.exit_status != 0:
            return await self._by_time(resume, f"{DISCARDED}: {complaint(found)}")
        if first := _first_entry(found.stdout):
            return start_at(resume.cursor, first.cursor)
        return await self._by_time(resume, AHEAD)

    async def _by_time(self, resume: ResumePoint, gap: str) -> Start:
        """As long ago on the host's clock as it was on ours, and a second for the way."""
        clock = (await self._ask(("date", "+%s"))).check().stdout.strip()
        if not clock.isdigit():
            raise DecodeError("date +%s", clock)
        passed = monotonic() - resume.moved_at if resume.moved_at is not None else 0.0
        return start_since(max(0, int(clock) - int(passed) - 1), gap)

    async def _ask(self, argv: tuple[str, ...], limit_bytes: int = 2**20) -> Completed:
        async with time_limit(self.transport.host, argv):
            return complete(await self.transport.run(argv, output_limit_bytes=limit_bytes), self.transport.host)

    def _ended(self, stream: Stream) -> None:
        host, status = self.transport.host, stream.exit_status
        if status is None:
            raise TransportLost(host, "the follower of the journal ended without a status")
        said = printable(decoded(stream.stderr[-200:]).strip(), limit=200)
        if status == NOT_FOUND or (status != 0 and said.startswith("sudo:")):
            raise SourceUnavailable(host, "journal", said or "journalctl was not found on the host")


def _first_entry(printed: bytes) -> JournalEntry | None:
    """`None`: nothing was printed. Raises `DecodeError` if something else than an entry was."""
    lines = [line for line in printed.split(b"\n") if line.startswith(b"{")]
    if not lines and printed.strip():
        raise DecodeError("journalctl", printed)
    return decode_entry(lines[0]) if lines else None


@asynccontextmanager
async def time_limit(host: str, argv: tuple[str, ...], seconds: float = ANSWER_SECONDS) -> AsyncIterator[None]:
    """Raises `CommandTimeout` after that time."""
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError:
        raise CommandTimeout(host, f"{' '.join(argv[:2])}: no answer within {seconds} s") from None
