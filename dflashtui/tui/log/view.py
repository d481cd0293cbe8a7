"""Which records are visible, and the rows that they take. Pure."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

from dflashtui.model.journal import Priority
from dflashtui.tui.log.filters import Filters
from dflashtui.tui.log.guard import TooSlow
from dflashtui.tui.log.wrapping import Row, rows_of, widest

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from dflashtui.tui.log.pattern import Pattern
    from dflashtui.tui.log.record import Record


class View:
    """The visible part of a buffer, kept up to date piece by piece."""

    def __init__(self) -> None:
        self.records: list[Record] = []
        self.rows: list[Row] = []
        self.widest = 0
        """Cells of the longest line so far."""
        self.hit_count = 0
        self.width: int | None = None
        """Cells for text; `None`: not known yet."""
        self.wraps_everything = False
        self.hides_prefixes = False
        """Process names stand in a column; time, level and place of the service's own logger are left out."""
        self.filters = Filters()
        self.query: Pattern | None = None
        self.trouble = ""
        """Why filter or search do not hold, in words: an expression took too long."""

    def rebuild(self, records: Sequence[Record]) -> None:
        """From all records, after the filter, the level, the query or the width changed."""
        self.records, self.rows, self.widest, self.hit_count = [], [], 0, 0
        self.append(records)

    def append(self, records: Sequence[Record]) -> None:
        """Newer records."""
        self._take(records, self.records.append, self.rows.extend)

    def prepend(self, records: Sequence[Record]) -> int:
        """Older records; how many rows came before those that were there."""
        older: list[Record] = []
        rows: list[Row] = []
        self._take(records, older.append, rows.extend)
        self.records[:0] = older
        self.rows[:0] = rows
        return len(rows)

    def _take(
        self, records: Sequence[Record], add: Callable[[Record], object], add_rows: Callable[[list[Row]], object]
    ) -> None:
        shown: list[Record] = []
        for record, is_shown in zip(records, self._passing(records), strict=True):
            record.row_count = 0
            record.is_hit = False
            if not is_shown:
                continue
            record.text_from = record.own_prefix.end if self.hides_prefixes else 0
            add(record)
            add_rows(self._cut(record))
            self.widest = max(self.widest, widest(record))
            shown.append(record)
        self._judge(shown)

    def _passing(self, records: Sequence[Record]) -> list[bool]:
        try:
            return self.filters.passing(records)
        except TooSlow:
            self.filters = self.filters.with_patterns(())
            self.trouble = "the filter took too long and was dropped"
            return self.filters.passing(records)

    def wrap(self, width: int, *, everything: bool) -> None:
        """Cut errors at this width, or every line; what is visible stays."""
        if (self.width, self.wraps_everything) == (width, everything):
            return
        every_row_changes = everything or self.wraps_everything
        self.width, self.wraps_everything = width, everything
        if not every_row_changes and not any(record.level <= Priority.ERR for record in self.records):
            return
        before, self.rows, place = self.rows, [], 0
        for record in self.records:
            count = record.row_count
            if every_row_changes or record.level <= Priority.ERR:
                self.rows += self._cut(record)
            else:
                self.rows += before[place : place + count]
            place += count

    def _cut(self, record: Record) -> list[Row]:
        rows = rows_of(record, self.width if self.wraps_everything or record.is_error else None)
        record.row_count = len(rows)
        return rows

    def search(self, query: Pattern | None) -> None:
        """Look for something; what is visible stays."""
        self.query, self.hit_count, self.trouble = query, 0, ""
        for record in self.records:
            record.is_hit = False
        self._judge(self.records)

    def _judge(self, records: Sequence[Record]) -> None:
        if self.query is None or not records:
            return
        try:
            for record, is_hit in zip(records, self.query.matching(records), strict=True):
                record.is_hit = is_hit and not record.is_ours
                self.hit_count += record.is_hit
        except TooSlow:
            self.query = None
            self.trouble = "the search took too long and was dropped"

    def renew_last(self, record: Record) -> int:
        """The record at the end changed its text; how many rows fewer or more there are now."""
        before = record.row_count
        if before:
            del self.rows[-before:]
            self.records.pop()
            self.hit_count -= record.is_hit
        self.append([record])
        return record.row_count - before

    def drop(self, records: Sequence[Record]) -> int:
        """Records that left the buffer at its old end; how many rows went."""
        visible = [record for record in records if record.row_count]
        rows = sum(record.row_count for record in visible)
        del self.records[: len(visible)]
        del self.rows[:rows]
        self.hit_count -= sum(record.is_hit for record in visible)
        return rows

    def place(self, seq: int) -> int:
        """The position among the visible records of this one, or of the next newer one."""
        return bisect_left(self.records, seq, key=lambda record: record.seq)

    def row_of(self, record: Record) -> int:
        """The first row of a record."""
        return bisect_left(self.rows, record.seq, key=lambda row: row.record.seq)
