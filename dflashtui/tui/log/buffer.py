"""The records that are kept: bounded, equal lines folded, newest last. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from dflashtui.tui.log.blocks import Blocks
from dflashtui.tui.log.record import Record, record_of, unshown, unshown_words

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from dflashtui.model.journal import JournalItem

LIVE_LIMIT = 10_000
"""Records that are kept while following."""
PAUSED_LIMIT = 20_000
"""While a person reads older ones, so that what they read stays and there is room to scroll back."""

START_IDS = frozenset({"7d4958e842da4a758f6c1cdc7b36dcc5", "39f53479d3a045ac8e11786248231fbf"})
"""`Starting …` and `Started …` (sd-messages.h)."""


class Taken(NamedTuple):
    """What an addition did: records that are new, the one that was folded into (if any)."""

    added: list[Record]
    folded: Record | None


class Buffer:
    """A list of records in the order of the journal."""

    def __init__(self) -> None:
        self.records: list[Record] = []
        self.starts: dict[str, datetime] = {}
        """When each run began: from the manager's own words, or as told; a first line seen is not a start."""
        self._blocks = Blocks()
        self._next_seq = 0
        self._first_seq = -1

    @property
    def oldest_cursor(self) -> str | None:
        """The cursor before which nothing is kept."""
        return next((record.first_cursor for record in self.records if record.first_cursor), None)

    def append(self, items: Sequence[JournalItem]) -> Taken:
        """Newer items."""
        added: list[Record] = []
        folded: Record | None = None
        last = self.records[-1] if self.records else None
        for item in items:
            record = record_of(self._next_seq, item)
            self._blocks.mark(record)
            self._note_start(record)
            if last is not None and fold(last, record):
                folded = last if not added else folded
                continue
            self._next_seq += 1
            added.append(record)
            last = record
        self.records += added
        return Taken(added, folded)

    def skip(self, count: int, at: datetime) -> Taken:
        """Say that so many lines were not drawn at this place."""
        last = self.records[-1] if self.records else None
        if last is not None and last.item is None:
            last.count += count
            last.texts = (unshown_words(last.count),)
            return Taken([], last)
        record = unshown(self._next_seq, count, at)
        self._next_seq += 1
        self.records.append(record)
        return Taken([record], None)

    def prepend(self, items: Sequence[JournalItem]) -> list[Record]:
        """Older items, as many as there is room for; the records that are new, oldest first."""
        blocks = Blocks()
        older: list[Record] = []
        room = max(0, PAUSED_LIMIT - len(self.records))
        for item in items[len(items) - min(room, len(items)) :]:
            record = record_of(0, item)
            blocks.mark(record)
            self._note_start(record)
            if not older or not fold(older[-1], record):
                older.append(record)
        self._first_seq -= len(older)
        for place, record in enumerate(older):
            record.seq = self._first_seq + 1 + place
        self.records[:0] = older
        return older

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
        self._blocks = Blocks()

    def _note_start(self, record: Record) -> None:
        entry = record.entry
        if entry is not None and entry.from_manager and entry.message_id in START_IDS and entry.invocation_id:
            self.starts.setdefault(entry.invocation_id, entry.at)


def fold(last: Record, record: Record) -> bool:
    """Take an equal line, or the next state of the same progress bar, into the last record; whether that was so."""
    before, entry = last.entry, record.entry
    if before is None or entry is None or before.pid != entry.pid or last.is_in_block or last.is_marked:
        return False
    if last.texts == record.texts and last.level == record.level:
        last.count += 1
    elif last.progress is not None and last.progress == record.progress:
        last.count += 1
        last.texts, last.spans, last.level = record.texts, record.spans, min(last.level, record.level)
    else:
        return False
    last.item, last.last_at = entry, entry.at
    return True
