"""Every followed unit of one host: what is kept of it, and who reads it. No I/O."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from dflashtui.fleet.journal_feed import JournalFeed
from dflashtui.fleet.journal_ring import JournalRing
from dflashtui.model.journal import JournalGap
from dflashtui.source.journal_argv import KERNEL

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from dflashtui.model.journal import JournalEntry, JournalItem


class UnitLogs:
    """A ring for each unit that is followed, and the feeds of their readers."""

    def __init__(self) -> None:
        self.dropped_count = 0
        """Lines that came faster than they were taken, of all units and readers."""
        self._rings: dict[str, JournalRing] = {}
        self._feeds: dict[str, list[JournalFeed]] = {}

    def __contains__(self, unit: object) -> bool:
        """Whether a unit is followed."""
        return unit in self._rings

    def cover(self, units: Collection[str]) -> None:
        """From now on these are followed. What was kept of others would have a hole later, so it is forgotten."""
        self._rings = {unit: self.ring(unit) for unit in units}

    def ring(self, unit: str) -> JournalRing:
        """What is kept of a unit; an empty one for a unit that is not followed."""
        return self._rings[unit] if unit in self._rings else JournalRing()

    def publish(self, items: Sequence[JournalItem]) -> None:
        """Hand items to their units' readers; a gap without a unit concerns all of them."""
        for unit, its_items in self._by_unit(items).items():
            new = self._rings[unit].extend(its_items)
            for feed in self._feeds.get(unit, ()):
                self.dropped_count += feed.put(new)

    @contextmanager
    def open(self, unit: str, lines: int) -> Iterator[tuple[tuple[JournalItem, ...], JournalFeed]]:
        """The newest items, and a feed of all that come after them."""
        feed = JournalFeed(unit)
        self._feeds.setdefault(unit, []).append(feed)
        try:
            yield self.ring(unit).newest(lines), feed
        finally:
            self._feeds[unit].remove(feed)

    def _by_unit(self, items: Sequence[JournalItem]) -> dict[str, list[JournalItem]]:
        sorted_out: dict[str, list[JournalItem]] = {}
        for item in items:
            self._count(item)
            for unit in self._concerned(item):
                sorted_out.setdefault(unit, []).append(item)
        return sorted_out

    def _concerned(self, item: JournalItem) -> Collection[str]:
        if item.unit is None:
            return self._rings if isinstance(item, JournalGap) else self._kernel(item)
        return (item.unit,) if item.unit in self._rings else ()

    def _kernel(self, entry: JournalEntry) -> Collection[str]:
        return (KERNEL,) if entry.transport == KERNEL and KERNEL in self._rings else ()

    def _count(self, item: JournalItem) -> None:
        """What journald itself suppressed has a cursor, and is not this console's doing."""
        if isinstance(item, JournalGap) and item.cursor is None:
            self.dropped_count += item.entries_lost or 0
