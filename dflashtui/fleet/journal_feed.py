"""What waits for one reader of a unit's journal. A slow one loses lines, and is told how many."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from dflashtui.fleet.journal_ring import Bounded
from dflashtui.model.journal import JournalGap
from dflashtui.source.journal_pieces import joined

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from dflashtui.model.journal import JournalItem

FEED_ITEMS = 10_000
FEED_CHARACTERS = 16 * 2**20
PERIOD_SECONDS = 0.05
NOT_SHOWN = "the console could not keep up"


class JournalFeed:
    """Filled by the hub, emptied by its one reader."""

    def __init__(self, unit: str, *, limit_items: int = FEED_ITEMS, limit_characters: int = FEED_CHARACTERS) -> None:
        self.unit = unit
        self._waiting = Bounded(limit_items, limit_characters)
        self._ready = asyncio.Event()
        self._lost = 0
        self._lost_from: datetime | None = None

    def put(self, items: Iterable[JournalItem]) -> int:
        """Add the newest; what does not fit goes from the old end. Gives how many lines went."""
        dropped = sum(self._dropped(gone) for item in items for gone in self._waiting.append(item))
        if self._waiting.items:
            self._ready.set()
        return dropped

    async def take(self) -> tuple[JournalItem, ...]:
        """All that waits, at least one item; long lines put together again."""
        await self._ready.wait()
        self._ready.clear()
        items = joined(self._waiting.take())
        if self._lost_from is None:
            return items
        gap = JournalGap(at=self._lost_from, reason=NOT_SHOWN, unit=self.unit, entries_lost=self._lost)
        self._lost, self._lost_from = 0, None
        return (gap, *items)

    def _dropped(self, gone: JournalItem) -> int:
        """A gap that goes unseen passes its own count on; only an entry is a newly lost line."""
        self._lost_from = self._lost_from or gone.at
        if isinstance(gone, JournalGap):
            self._lost += gone.entries_lost or 0
            return 0
        self._lost += 1
        return 1
