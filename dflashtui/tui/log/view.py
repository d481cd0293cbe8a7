"""Which records are visible, and the rows that they take. Pure."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

from dflashtui.tui.log.wrapping import Row, rows_of, widest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from dflashtui.model.journal import Priority
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
        self.limit: Priority | None = None
        self.pattern: Pattern | None = None
        self.query: Pattern | None = None

    def accepts(self, record: Record) -> bool:
        """Whether level and filter let it through; this program's own lines always are."""
        if record.is_ours:
            return True
        if self.limit is not None and record.level > self.limit:
            return False
        return self.pattern is None or self.pattern.matches(record)

    def rebuild(self, records: Iterable[Record]) -> None:
        """From all records, after the filter, the level, the query or the width changed."""
        self.records, self.rows, self.widest, self.hit_count = [], [], 0, 0
        self.append(records)

    def append(self, records: Iterable[Record]) -> None:
        """Newer records."""
        for record in records:
            self._take(record, self.records.append, self.rows.extend)

    def prepend(self, records: Sequence[Record]) -> int:
        """Older records; how many rows came before those that were there."""
        older: list[Record] = []
        rows: list[Row] = []
        for record in records:
            self._take(record, older.append, rows.extend)
        self.records[:0] = older
        self.rows[:0] = rows
        return len(rows)

    def _take(self, record: Record, add: Callable[[Record], object], add_rows: Callable[[list[Row]], object]) -> None:
        record.row_count = 0
        if not self.accepts(record):
            record.is_hit = False
            return
        rows = rows_of(record, self.width if self.wraps_everything or record.is_error else None)
        record.row_count = len(rows)
        add(record)
        add_rows(rows)
        self.widest = max(self.widest, widest(record))
        self._judge(record)

    def search(self, query: Pattern | None) -> None:
        """Look for something; what is visible stays."""
        self.query, self.hit_count = query, 0
        for record in self.records:
            self._judge(record)

    def _judge(self, record: Record) -> None:
        record.is_hit = self.query is not None and not record.is_ours and self.query.matches(record)
        self.hit_count += record.is_hit

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
