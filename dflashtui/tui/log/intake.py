"""Lines that wait to be drawn: the newest win when they come too fast. Pure."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from dflashtui.tui.log.buffer import LIVE_LIMIT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime

    from dflashtui.tui.log.record import SourcedItem

BATCH = 1000
"""Lines taken in for one draw."""
BITE = 50
"""Lines taken in at once: about 1 ms of work, so that a key never waits longer."""


class Intake:
    """Bounded: never more than `LIVE_LIMIT` lines behind; what was dropped is counted."""

    def __init__(self) -> None:
        self._waiting: deque[SourcedItem] = deque()
        self.dropped_count = 0
        self.dropped_at: datetime | None = None
        """When the newest dropped line was written."""

    def __len__(self) -> int:
        return len(self._waiting)

    def put(self, items: Iterable[SourcedItem]) -> None:
        """More lines; the oldest beyond the bound are dropped."""
        self._waiting.extend(items)
        while len(self._waiting) > LIVE_LIMIT:
            self.dropped_at = self._waiting.popleft()[1].at
            self.dropped_count += 1

    def take(self) -> list[SourcedItem]:
        """The oldest that wait, for one draw."""
        return self._oldest(BATCH)

    def bites(self) -> Iterator[list[SourcedItem]]:
        """The same in parts; what comes meanwhile may be among them."""
        for _ in range(BATCH // BITE):
            if not self._waiting:
                return
            yield self._oldest(BITE)

    def _oldest(self, count: int) -> list[SourcedItem]:
        return [self._waiting.popleft() for _ in range(min(count, len(self._waiting)))]

    def take_dropped(self) -> tuple[int, datetime | None]:
        """How many were dropped before the next batch, told once."""
        count, at = self.dropped_count, self.dropped_at
        self.dropped_count, self.dropped_at = 0, None
        return count, at

    def clear(self) -> None:
        """Forget all."""
        self._waiting.clear()
        self.take_dropped()
