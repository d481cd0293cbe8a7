"""The records that are kept: a bounded window of the journal, equal lines folded, newest last. Pure."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, NamedTuple

from dflashtui.model.journal import JournalEntry, JournalGap
from dflashtui.tui.log.blocks import Blocks
from dflashtui.tui.log.folding import fold
from dflashtui.tui.log.record import DOT, Record, record_of, unshown, unshown_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from dflashtui.model.journal import JournalItem
    from dflashtui.tui.log.record import Source, SourcedItem

LIVE_LIMIT = 10_000
"""Records that are kept while following."""
PAUSED_LIMIT = 20_000
"""While a person reads older ones, so that what they read stays and there is room to scroll back."""
TAIL_LIMIT = 500
"""Newest items that are kept while the window stands further back, so that going to the present is one step."""

START_IDS = frozenset({"7d4958e842da4a758f6c1cdc7b36dcc5", "39f53479d3a045ac8e11786248231fbf"})
"""`Starting …` and `Started …` (sd-messages.h)."""


class Taken(NamedTuple):
    """What an addition did: records that are new, the one that was changed (if any)."""

    added: list[Record]
    folded: Record | None


class Buffer:
    """A list of records in the order of the journal.

    It reaches to the present, or ends with a record that counts what is newer (`tail`).
    """

    def __init__(self) -> None:
        self.records: list[Record] = []
        self.starts: dict[str, datetime] = {}
        """When each run began: from the manager's own words, or as told; a first line seen is not a start."""
        self.newest: deque[SourcedItem] = deque(maxlen=TAIL_LIMIT)
        """While there is a tail: the newest items of all."""
        self._blocks = Blocks()
        self._next_seq = 0
        self._first_seq = -1

    @property
    def oldest_cursor(self) -> str | None:
        """The cursor before which nothing is kept."""
        return next((record.first_cursor for record in self.records if record.first_cursor), None)

    def oldest_cursors(self) -> dict[Source | None, str]:
        """The same for each source."""
        found: dict[Source | None, str] = {}
        for record in self.records:
            if record.first_cursor:
                found.setdefault(record.source, record.first_cursor)
        return found

    @property
    def tail(self) -> Record | None:
        """What stands for everything newer; `None`: the present is here."""
        last = self.records[-1] if self.records else None
        return last if last is not None and last.is_tail else None

    def append(self, items: Sequence[JournalItem], source: Source | None = None) -> Taken:
        """Newer items of one source."""
        return self.take([(source, item) for item in items])

    def take(self, items: Sequence[SourcedItem]) -> Taken:
        """Newer items, in one order of time. Away from the present they are counted, and the newest remembered."""
        if self.tail is not None:
            self.newest.extend(items)
            return self._count_newer(self.tail, len(items))
        added: list[Record] = []
        folded: Record | None = None
        last = self.records[-1] if self.records else None
        for source, item in items:
            record = self._record(self._next_seq, item, source)
            if last is not None and fold(last, record):
                folded = last if not added else folded
                continue
            self._blocks.mark(record)
            self._next_seq += 1
            added.append(record)
            last = record
        self.records += added
        return Taken(added, folded)

    def skip(self, count: int, at: datetime, source: Source | None = None) -> Taken:
        """Say that so many lines were not drawn at this place."""
        last = self.records[-1] if self.records else None
        if last is not None and last.item is None:
            return self._count_newer(last, count)
        record = unshown(self._next_seq, count, at, source)
        self._next_seq += 1
        self.records.append(record)
        return Taken([record], None)

    def prepend(self, items: Sequence[JournalItem], sources: Sequence[Source | None] = ()) -> list[Record]:
        """Older items; the records that are new, oldest first. `sources`: of each item, in a merged log."""
        older = self._made(items, sources)
        self._first_seq -= len(older)
        for place, record in enumerate(older):
            record.seq = self._first_seq + 1 + place
        self.records[:0] = older
        return older

    def let_go_of_newest(self, limit: int) -> bool:
        """Keep the oldest records up to a limit and count the others in a tail; whether any went."""
        if len(self.records) <= limit:
            return False
        gone = self.records[limit:]
        del self.records[limit:]
        count = sum(record.count for record in gone)
        if not gone[-1].is_tail:
            kept = gone[-TAIL_LIMIT:]
            self.newest.extend((record.source, record.item) for record in kept if record.item is not None)
        self.records.append(unshown(gone[0].seq, count, gone[0].at, is_tail=True))
        return True

    def move_to(self, items: Sequence[JournalItem], sources: Sequence[Source | None] = ()) -> None:
        """Another part of the journal in place of all; what came last is remembered."""
        if self.tail is None:
            kept = self.records[-TAIL_LIMIT:]
            self.newest.extend((record.source, record.item) for record in kept if record.item is not None)
        self.records = self._made(items, sources)
        at = self.records[-1].at if self.records else (self.newest[-1][1].at if self.newest else None)
        if at is not None:
            self.records.append(unshown(0, 0, at, is_tail=True))
        self._number()

    def to_present(self) -> None:
        """Back to the newest items, when they were left."""
        if self.tail is None:
            return
        newest = list(self.newest)
        self.newest.clear()
        self.records = []
        self._blocks = Blocks()
        self.take(newest)

    def around(self, hole: Record) -> tuple[str | None, str | None]:
        """The cursors on both sides of a hole, of its own source."""
        place = self.records.index(hole)
        before = (one.last_cursor for one in reversed(self.records[:place]) if one.source == hole.source)
        after = (one.first_cursor for one in self.records[place + 1 :] if one.source == hole.source)
        return next(filter(None, before), None), next(filter(None, after), None)

    def fill(self, hole: Record, items: Sequence[JournalItem], *, at_end: bool, is_whole: bool) -> None:
        """Put fetched items into a hole, at its newer end or its older one; `is_whole`: nothing is missing any more."""
        place = self.records.index(hole)
        if hole.is_tail and not is_whole:
            is_whole = any(item.cursor and item.cursor in self._newest_cursors() for item in items)
        made = self._made(items, [hole.source] * len(items))
        tail = self._joined_tail(items) if hole.is_tail and is_whole else []
        rest = [] if is_whole else [_less(hole, len(items))]
        self.records[place : place + 1] = [*rest, *made] if at_end else [*made, *rest]
        self.records += tail
        self._number()

    def _newest_cursors(self) -> set[str]:
        return {item.cursor for _, item in self.newest if item.cursor}

    def _joined_tail(self, items: Sequence[JournalItem]) -> list[Record]:
        """The remembered newest records that are not among `items`: with them the present is reached."""
        known = {item.cursor for item in items if item.cursor}
        rest = [(source, item) for source, item in self.newest if item.cursor not in known or not item.cursor]
        self.newest.clear()
        return self._made([item for _, item in rest], [source for source, _ in rest])

    def trim(self, limit: int) -> list[Record]:
        """Drop the oldest beyond the limit; those that were dropped."""
        over = len(self.records) - limit
        if over <= 0:
            return []
        dropped = self.records[:over]
        del self.records[:over]
        return dropped

    def clear(self) -> None:
        """Forget everything."""
        self.records.clear()
        self.starts.clear()
        self.newest.clear()
        self._blocks = Blocks()

    def _count_newer(self, hole: Record, count: int) -> Taken:
        hole.count += count
        hole.texts = (unshown_words(hole.count, is_tail=hole.is_tail),)
        return Taken([], hole)

    def _made(self, items: Iterable[JournalItem], sources: Sequence[Source | None]) -> list[Record]:
        """Records of a part of the journal, not yet numbered."""
        blocks = Blocks()
        made: list[Record] = []
        for place, item in enumerate(items):
            record = self._record(0, item, sources[place] if sources else None)
            if not made or not fold(made[-1], record):
                blocks.mark(record)
                made.append(record)
        return made

    def _record(self, seq: int, item: JournalItem, source: Source | None) -> Record:
        record = record_of(seq, item, source)
        if isinstance(item, JournalEntry) and item.from_manager and item.message_id in START_IDS and item.invocation_id:
            self.starts.setdefault(item.invocation_id, item.at)
        return record

    def _number(self) -> None:
        """Sequence numbers anew, after something was put into the middle."""
        for place, record in enumerate(self.records):
            record.seq = place
        self._first_seq, self._next_seq = -1, len(self.records)


def _less(hole: Record, count: int) -> Record:
    """The same hole, smaller; how many lines are in it was an estimate."""
    if isinstance(hole.item, JournalGap):
        left = max(1, (hole.item.entries_lost or 0) - count)
        hole.item = hole.item.model_copy(update={"entries_lost": left})
        hole.texts = (f"{hole.texts[0].split(DOT)[0]}{DOT}{left} not fetched yet",)
        return hole
    hole.count = max(1, hole.count - count)
    hole.texts = (unshown_words(hole.count, is_tail=hole.is_tail),)
    return hole
