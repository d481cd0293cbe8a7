"""Which rows are seen, in which order, and where the cursor stands. Pure: no widget, no clock."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflashtui.tui.filtering import matches
from dflashtui.tui.subject import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dflashtui.tui.listing.table import Row
    from dflashtui.tui.subject import Subject


class Listing:
    """The state of one list. Everything is kept by identity, nothing by position."""

    def __init__(self) -> None:
        self.rows: tuple[Row, ...] = ()
        self.query = ""
        self.problems_only = False
        self.sort_position: int | None = None
        """Column to sort by; `None`: the order of the inventory."""
        self.reverse = False
        self.marks: set[Subject] = set()
        self.closed: set[str | None] = set()
        """Groups whose rows are folded away."""
        self.opened_once: set[str | None] = set()
        """Groups that a problem has opened: never a second time."""
        self.cursor: Subject | None = None
        self.sought: Subject | None = None
        """Where the cursor goes as soon as there are rows: a list may be entered before it was filled."""
        self.anchor: Subject | None = None
        """The last row that was marked."""
        self.seen: tuple[Row, ...] = ()
        """The rows to draw."""

    def show(self, rows: tuple[Row, ...]) -> None:
        """Take new rows; cursor, marks and folds stay with their rows."""
        self.rows = rows
        self.marks &= {row.key for row in rows}
        self._open_groups_with_problems()
        self.arrange()
        if rows and self.sought is not None:
            self.seek(self.sought)
            self.sought = None

    def seek(self, subject: Subject) -> None:
        """Put the cursor on a row: now, or when the next rows come."""
        is_seen = any(row.key == subject for row in self.seen)
        self.cursor, self.sought = (subject, None) if is_seen else (self.cursor, subject)

    def arrange(self) -> None:
        """Work out anew what is seen."""
        before = self.position
        kept = [row for row in self.rows if self._is_kept(row)]
        self.seen = tuple(self._folded(self._sorted(kept)))
        if self.cursor is None:
            self.cursor = next((row.key for row in self.seen if not row.heading), None)
        if self.seen and not any(row.key == self.cursor for row in self.seen):
            self.cursor = self.seen[min(before or 0, len(self.seen) - 1)].key
        if not self.seen:
            self.cursor = None

    def _open_groups_with_problems(self) -> None:
        for row in self.rows:
            if row.problem and row.group in self.closed and row.group not in self.opened_once:
                self.closed.discard(row.group)
                self.opened_once.add(row.group)

    def _is_kept(self, row: Row) -> bool:
        if row.heading:
            return True
        return (row.problem or not self.problems_only) and matches(self.query, row.text)

    def _sorted(self, rows: list[Row]) -> list[Row]:
        if self.marks:  # nothing moves while rows are marked
            order = {row.key: place for place, row in enumerate(self.seen)}
            return sorted(rows, key=lambda row: order.get(row.key, len(order)))
        position = self.sort_position
        if position is None:
            return rows
        body = [row for row in rows if not row.heading]
        known = [row for row in body if row.values[position] is not None]
        unknown = [row for row in body if row.values[position] is None]
        known.sort(key=lambda row: _sortable(row, position), reverse=self.reverse)
        return known + unknown

    def _folded(self, rows: Iterable[Row]) -> list[Row]:
        listed = list(rows)
        used = {row.group for row in listed if not row.heading}
        folds = any(row.heading for row in listed)
        return [
            row
            for row in listed
            if (row.heading and row.group in used) or (not row.heading and not (folds and row.group in self.closed))
        ]

    @property
    def position(self) -> int | None:
        """Where the cursor stands among the rows seen."""
        return next((place for place, row in enumerate(self.seen) if row.key == self.cursor), None)

    @property
    def current(self) -> Row | None:
        """The row under the cursor."""
        place = self.position
        return None if place is None else self.seen[place]

    @property
    def total(self) -> int:
        """How many rows there are, group titles not counted."""
        return sum(not row.heading for row in self.rows)

    @property
    def shown(self) -> int:
        """How many of them pass filter and fold."""
        return sum(not row.heading for row in self.seen)

    def step(self, by: int) -> None:
        """Move the cursor; it stops at both ends."""
        self.sought = None
        if self.seen:
            place = (self.position or 0) + by
            self.cursor = self.seen[max(0, min(place, len(self.seen) - 1))].key

    def put(self, place: int) -> None:
        """Put the cursor on the row at that place."""
        self.cursor = self.seen[place].key

    def mark(self) -> None:
        """Mark the row, or take its mark away, and step down."""
        row = self.current
        if row is None or row.heading or row.key.kind is Kind.GROUP:
            return
        self.marks ^= {row.key}
        self.anchor = row.key
        self.step(1)

    def mark_range(self) -> None:
        """Mark everything from the last marked row to here."""
        places = {row.key: place for place, row in enumerate(self.seen)}
        if self.cursor is None or self.cursor not in places:
            return
        start = places.get(self.anchor, places[self.cursor]) if self.anchor else places[self.cursor]
        first, last = sorted((start, places[self.cursor]))
        self.marks |= {row.key for row in self.seen[first : last + 1] if not row.heading}
        self.anchor = self.cursor

    def fold(self, group: str | None) -> None:
        """Close an open group, open a closed one."""
        self.closed ^= {group}
        self.opened_once.add(group)
        self.arrange()

    @property
    def chosen(self) -> tuple[Subject, ...]:
        """The marked rows, or the one under the cursor."""
        if self.marks:
            return tuple(row.key for row in self.rows if row.key in self.marks)
        return (self.cursor,) if self.cursor else ()


def _sortable(row: Row, position: int) -> tuple[float, str]:
    value = row.values[position]
    return (0.0, value.lower()) if isinstance(value, str) else (float(value or 0), "")
