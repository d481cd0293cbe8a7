"""What the log pane shows and where its cursor stands. Pure: no widget, no clock."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflashtui.tui.log.buffer import LIVE_LIMIT, PAUSED_LIMIT, Buffer
from dflashtui.tui.log.levels import next_limit
from dflashtui.tui.log.view import View

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from dflashtui.model.journal import JournalItem
    from dflashtui.tui.log.buffer import Taken
    from dflashtui.tui.log.filters import Filters
    from dflashtui.tui.log.pattern import Pattern
    from dflashtui.tui.log.record import Record, Source, SourcedItem


class LogModel:
    """Follows the newest line until a person moves up."""

    def __init__(self) -> None:
        self.buffer = Buffer()
        self.view = View()
        self.is_following = True
        self.new_count = 0
        """Lines that came since the following was paused."""
        self.new_error_count = 0
        self.rows_dropped = 0
        """Rows that went at the old end since the screen was settled, so that a paused screen can stay where it is."""
        self.anchor: Record | None = None
        """Where a selection by keys began, or the end of a block that is selected as a whole."""
        self._has_whole_block = False
        self._cursor_seq: int | None = None

    @property
    def cursor(self) -> Record | None:
        """The record under the cursor: the newest while following."""
        records = self.view.records
        if not records:
            return None
        if self.is_following or self._cursor_seq is None:
            return records[-1]
        return records[min(self.view.place(self._cursor_seq), len(records) - 1)]

    @property
    def hidden_count(self) -> int:
        """Records that level or filter keep away."""
        return len(self.buffer.records) - len(self.view.records)

    def append(self, items: Sequence[JournalItem], source: Source | None = None) -> None:
        """Newer items of one source."""
        self.take([(source, item) for item in items])

    def take(self, items: Sequence[SourcedItem]) -> None:
        """Newer items, in one order of time."""
        self._taken(self.buffer.take(items), len(items))

    def skip(self, count: int, at: datetime, source: Source | None = None) -> None:
        """So many lines came too fast to be drawn."""
        self._taken(self.buffer.skip(count, at, source), count)

    def prepend(self, items: Sequence[JournalItem], sources: Sequence[Source | None] = ()) -> int:
        """Older items; how many rows came before those that were there. What is far newer may go to make room."""
        rows = self.view.prepend(self.buffer.prepend(items, sources))
        if self.buffer.let_go_of_newest(PAUSED_LIMIT):
            self.rebuild()
        return rows

    def fill(self, hole: Record, items: Sequence[JournalItem], *, at_end: bool, is_whole: bool) -> None:
        """Put fetched lines into a hole and stand on the one beside it: at its newer end (moving up), or its older."""
        if hole not in self.buffer.records:
            return
        was_at = self.buffer.records.index(hole)
        old = set(map(id, self.buffer.records))
        self.buffer.fill(hole, items, at_end=at_end, is_whole=is_whole)
        self._make_room(at_end=at_end)
        self.rebuild()
        fetched = [record for record in self.buffer.records if id(record) not in old]
        records = fetched or self.buffer.records[max(0, was_at - 1) : was_at + 1]
        if records:
            self.put(records[-1 if at_end else 0])

    def _make_room(self, *, at_end: bool) -> None:
        if at_end:
            self.buffer.let_go_of_newest(PAUSED_LIMIT)
        else:
            self.buffer.trim(PAUSED_LIMIT)

    def move_to(
        self, items: Sequence[JournalItem], cursor: str | None, at: datetime, sources: Sequence[Source | None] = ()
    ) -> None:
        """Another part of the journal, with the cursor on that entry, or on the first line not before that moment."""
        self.buffer.move_to(items, sources)
        self.rebuild()
        records = [record for record in self.view.records if not record.is_tail]
        found = next((record for record in records if cursor and record.last_cursor == cursor), None)
        found = found or next((record for record in records if record.shown_at >= at), None)
        target = found or (records[-1] if records else None)
        self.is_following = False
        self._cursor_seq = target.seq if target else None

    def clear(self) -> None:
        """Forget everything but how to show it."""
        self.buffer.clear()
        self.view.rebuild(())
        self.follow()

    def follow(self) -> None:
        """Jump to the newest line and stay with it."""
        self.is_following = True
        self.anchor = None
        self.new_count = self.new_error_count = 0
        self._cursor_seq = None
        if self.buffer.tail is not None:
            self.buffer.to_present()
            self.rebuild()
        self.rows_dropped = self.view.drop(self.buffer.trim(LIVE_LIMIT))

    def pause(self) -> None:
        """Stay here."""
        if self.is_following:
            here = self.cursor
            self.is_following = False
            self._cursor_seq = here.seq if here else None

    def put(self, record: Record) -> None:
        """Move the cursor to a record; a block that was selected as a whole is so no longer."""
        self.pause()
        self._cursor_seq = record.seq
        if self._has_whole_block:
            self.anchor, self._has_whole_block = None, False

    def step(self, by: int) -> None:
        """Move the cursor by so many records."""
        here = self.cursor
        if here is not None:
            records = self.view.records
            self.put(records[max(0, min(len(records) - 1, self.view.place(here.seq) + by))])

    @property
    def filters(self) -> Filters:
        """What hides lines."""
        return self.view.filters

    def show_level(self) -> None:
        """The next level of `L`."""
        self.narrow(self.filters.with_level(next_limit(self.filters.limit)))

    def narrow(self, filters: Filters) -> None:
        """Only what passes."""
        self.view.trouble = ""
        self.view.filters = filters
        self.rebuild()

    def search(self, query: Pattern | None) -> None:
        """Look for something; the cursor stays."""
        self.view.search(query)

    def wrap(self, width: int, *, everything: bool) -> None:
        """Cut errors at this width, or every line."""
        self.view.wrap(width, everything=everything)

    def rebuild(self) -> None:
        """Judge every record anew."""
        self.view.rebuild(self.buffer.records)

    def nearest_hit(self) -> bool:
        """Go to the match at the cursor or before it, else to the first after it; whether there is one."""
        here = self.cursor
        if here is not None and here.is_hit:
            return True
        return self.go(-1, lambda record: record.is_hit)

    def next_hit(self, way: int) -> bool:
        """Go to the next (1) or previous (-1) match, round the end; whether there is one."""
        return self.go(way, lambda record: record.is_hit)

    def next_mark(self) -> bool:
        """Go to the next marked line."""
        return self.go(1, lambda record: record.is_marked)

    def next_error(self, way: int) -> bool:
        """Go to the next error; lines of one traceback are one error, and its first line is where to look."""
        return self.go(way, _is_error_to_see)

    def next_exception(self, way: int) -> bool:
        """Go to the first line of the next traceback, and select all of it."""
        found = self.go(way, _is_exception)
        here = self.cursor
        if found and here is not None:
            self.anchor, self._has_whole_block = here.whole_block[-1], True
        return found

    def go(self, way: int, wanted: Callable[[Record], bool]) -> bool:
        """Go to the next wanted record in that direction, round the end; whether there is one."""
        here = self.cursor
        if here is None:
            return False
        records = self.view.records
        place = self.view.place(here.seq)
        order = (
            [*records[place + 1 :], *records[: place + 1]] if way > 0 else [*records[place:], *records[:place]][::-1]
        )
        found = next((record for record in order if wanted(record)), None)
        if found is None:
            return False
        self.put(found)
        return True

    def mark(self) -> None:
        """Mark the line under the cursor, or take its mark away."""
        here = self.cursor
        if here is not None:
            here.is_marked = not here.is_marked

    @property
    def selected(self) -> tuple[Record, ...]:
        """From where the selection by keys began to the cursor; nothing if none began."""
        here = self.cursor
        if here is None or self.anchor is None:
            return ()
        first, last = sorted((self.view.place(self.anchor.seq), self.view.place(here.seq)))
        return tuple(self.view.records[first : last + 1])

    def select(self) -> None:
        """Begin a selection at the cursor, or drop it."""
        self.pause()
        self._has_whole_block = False
        self.anchor = None if self.anchor is not None else self.cursor

    def fold_block(self) -> bool:
        """Close the block under the cursor to its first line, or open it; whether there is one."""
        here = self.cursor
        head = (here.head or here) if here is not None else None
        if head is None or not head.block:
            return False
        head.is_folded = not head.is_folded
        self.rebuild()
        self.put(head)
        return True

    def fold_all(self) -> None:
        """Close every block; open all, if all are closed."""
        heads = [record for record in self.buffer.records if record.block]
        wanted = not all(head.is_folded for head in heads)
        here = self.cursor
        for head in heads:
            head.is_folded = wanted
        self.rebuild()
        if here is not None and not self.is_following:
            self.put(here.head if here.head is not None and wanted else here)

    def _taken(self, taken: Taken, count: int) -> None:
        if taken.folded is not None:
            self.view.renew_last(taken.folded)
        self.view.append(taken.added)
        if not self.is_following:
            self.new_count += count
            self.new_error_count += sum(record.is_error and not record.is_in_block for record in taken.added)
        limit = LIVE_LIMIT if self.is_following else PAUSED_LIMIT
        self.rows_dropped += self.view.drop(self.buffer.trim(limit))


def _is_exception(record: Record) -> bool:
    """The line that a traceback begins with, and the head of its block."""
    return record.is_in_block and (record.head is None or "Traceback" in record.texts[0])


def _is_error_to_see(record: Record) -> bool:
    """Of a traceback, only its first line."""
    return record.is_error and (not record.is_in_block or "Traceback" in record.texts[0])
