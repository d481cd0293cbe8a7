"""A host's journal: followed from a resume point, and read back on demand."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from time import monotonic
from typing import TYPE_CHECKING

from dflashtui.errors import CommandTimeout, SourceUnavailable
from dflashtui.model.journal import JournalGap
from dflashtui.source.journal_access import complete
from dflashtui.source.journal_adopt import adopted, has_own_lines
from dflashtui.source.journal_argv import (
    Narrowing,
    entry_argv,
    history_argv,
    invocation_matches,
    newest_argv,
    unit_matches,
)
from dflashtui.source.journal_entry import all_fields
from dflashtui.source.journal_follow import Follower
from dflashtui.source.journal_history import HISTORY_LIMIT_BYTES, first_entry, history_items
from dflashtui.source.journal_page import limit_bytes, page_argv, page_items
from dflashtui.source.journal_where import damaged, where, where_argv

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Sequence

    from dflashtui.model.journal import JournalItem
    from dflashtui.model.journal_query import JournalQuery
    from dflashtui.source.journal_argv import JournalAccess
    from dflashtui.source.journal_cursor import ResumePoint
    from dflashtui.source.journal_shed import Quota
    from dflashtui.transport.base import Completed, Transport

ANSWER_SECONDS = 30
"""A one-shot read of a journal on a slow disk."""


@dataclass(frozen=True, slots=True)
class JournalReader:
    """One host's journal over one established transport."""

    transport: Transport
    access: JournalAccess
    clock: Callable[[], float] = monotonic

    async def anchor(self, resume: ResumePoint) -> None:
        """Put a resume point that stands nowhere at the newest entry of all, so that following leaves no hole.

        In an empty journal that is before all entries to come.
        """
        if resume.cursor is None and not resume.is_before_all:
            newest = first_entry((await self.ask(newest_argv(self.access))).check().stdout)
            if newest:
                resume.move(newest.cursor, newest.boot_id, self.clock())
            else:
                resume.is_before_all = True

    def follow(
        self,
        units: Iterable[str],
        resume: ResumePoint,
        *,
        quota: Quota | None = None,
        narrowing: Narrowing | None = None,
    ) -> AsyncGenerator[tuple[JournalItem, ...], None]:
        """What comes after the resume point about these units and from the kernel, in the journal's order.

        A resume point that stands nowhere is put at the newest entry. It is moved with each batch, also past
        entries that are not given. Where something may be missing a `JournalGap` stands. With a `quota` a unit
        that floods is cut short and skipped, so that the follower stays near the present; without one, a slow
        reader slows journalctl down. Ends when journalctl ended (then go on from `resume`); raises
        `TransportLost`, `SourceUnavailable`, `CommandTimeout`, `CommandFailed`, `DecodeError`.
        """
        return Follower(self, frozenset(units), resume, quota, narrowing).batches()

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
        if invocation_id is None:
            return await self._history(unit, unit_matches((unit,), self.access), lines, before, narrowing)
        found = await self._history(unit, invocation_matches(invocation_id, self.access), lines, before, narrowing)
        if before or narrowing or has_own_lines(found):
            return found
        return adopted(found, await self.history(unit, lines=lines), invocation_id)

    async def _history(
        self, unit: str, matches: Sequence[str], lines: int | None, before: str | None, narrowing: Narrowing | None
    ) -> tuple[JournalItem, ...]:
        argv = history_argv(self.access, matches, lines=lines, before=before, narrowing=narrowing or Narrowing())
        done = await self.ask(argv, HISTORY_LIMIT_BYTES)
        if not done.truncated:
            done.check()
        items = history_items(done, unit, self.access.manager, lines=lines, before=before)
        trouble = damaged(done.stderr) if before is None else None
        return (_gap_before(items, trouble, unit), *items) if trouble else items

    async def whereabouts(self, unit: str) -> str | None:
        """Why the journal may have fewer lines of a unit than it wrote, in words. Raises `TransportLost`."""
        with suppress(SourceUnavailable, CommandTimeout):
            return where(await self.ask(where_argv(unit, self.access.manager)))
        return None

    async def page(self, unit: str, query: JournalQuery) -> tuple[JournalItem, ...]:
        """What a query asks for, oldest first. Raises as `history`."""
        done = await self.ask(page_argv(self.access, unit, query), limit_bytes(query))
        if not done.truncated:
            done.check()
        return page_items(done, unit, self.access, query)

    async def fields(self, cursor: str) -> dict[str, str]:
        """Every field of an entry as text; nothing if it is gone. Raises as `history`."""
        done = await self.ask(entry_argv(self.access, cursor), HISTORY_LIMIT_BYTES)
        return all_fields(done.check().stdout, cursor)

    async def sync(self) -> bool:
        """Have journald take in all that was sent to it; false: this login may not ask for that (journalctl(1))."""
        if self.access.uid != 0 and not self.access.prefix:
            return False
        return (await self.ask(self.access.argv("--sync"))).exit_status == 0

    async def ask(self, argv: Sequence[str], limit_bytes: int = 2**20) -> Completed:
        """Run a command. Raises `CommandTimeout`, `TransportLost`, `SourceUnavailable` if there is no journalctl."""
        async with _time_limit(self.transport.host, argv):
            return complete(await self.transport.run(argv, output_limit_bytes=limit_bytes), self.transport.host)


def _gap_before(items: Sequence[JournalItem], reason: str, unit: str) -> JournalGap:
    return JournalGap(at=items[0].at if items else datetime.now(UTC), reason=reason, unit=unit)


@asynccontextmanager
async def _time_limit(host: str, argv: Sequence[str]) -> AsyncIterator[None]:
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            yield
    except TimeoutError:
        raise CommandTimeout(host, f"{argv[0]}: no answer within {ANSWER_SECONDS} s") from None
