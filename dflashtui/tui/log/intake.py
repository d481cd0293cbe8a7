"""Lines that wait to be drawn: the newest win when they come too fast. Pure."""

from __future__ import annotations

from collections import deque
from itertools import groupby, islice
from typing import TYPE_CHECKING

from dflashtui.tui.log.buffer import LIVE_LIMIT

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime

    from dflashtui.model.journal import JournalItem
    from dflashtui.tui.log.record import Source

    Waiting = tuple[Source | None, JournalItem]

BATCH = 1000
"""Lines taken in at one draw: about 25 ms of work, so that a key never waits longer."""


class Intake:
    """Bounded: never more than `LIVE_LIMIT` lines behind; what was dropped is counted."""

    def __init__(self) -> None:
        self._waiting: deque[Waiting] = deque()
        self.dropped_count = 0
        self.dropped_at: datetime | None = None
        """When the newest dropped line was written."""

    def __len__(self) -> int:
        return len(self._waiting)

    def put(self, items: Iterable[JournalItem], source: Source | None = None) -> None:
        """More lines; the oldest beyond the bound are dropped."""
        self._waiting.extend((source, item) for item in items)
        while len(self._waiting) > LIVE_LIMIT:
            self.dropped_at = self._waiting.popleft()[1].at
            self.dropped_count += 1

    def take(self) -> Iterator[tuple[Source | None, list[JournalItem]]]:
        """The oldest that wait, for one draw, by their sources."""
        batch = list(islice(self._waiting, BATCH))
        for _ in batch:
            self._waiting.popleft()
        for source, items in groupby(batch, key=lambda one: one[0]):
            yield source, [item for _, item in items]

    def take_dropped(self) -> tuple[int, datetime | None]:
        """How many were dropped before the next batch, told once."""
        count, at = self.dropped_count, self.dropped_at
        self.dropped_count, self.dropped_at = 0, None
        return count, at

    def clear(self) -> None:
        """Forget all."""
        self._waiting.clear()
        self.take_dropped()
