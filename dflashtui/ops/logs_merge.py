"""Several hosts' items in one order of time. Pure."""

from __future__ import annotations

import heapq
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from dflashtui.model.journal import JournalItem

HostItem = tuple[str, "JournalItem"]
WINDOW_SECONDS = 0.3
"""journald tells its followers of new entries at most every 250 ms."""


@dataclass(slots=True)
class LogMerge:
    """Holds items for a moment, and gives them in the order of their stamps.

    A host's own order is never changed: its clock may jump, its journal's order counts.
    """

    window_seconds: float = WINDOW_SECONDS
    _latest: dict[str, datetime] = field(default_factory=dict)
    _waiting: list[tuple[datetime, int, str, JournalItem]] = field(default_factory=list)
    _arrivals: deque[tuple[float, datetime]] = field(default_factory=deque)
    _count: int = 0

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def put(self, host: str, items: Iterable[JournalItem], now: float) -> None:
        """Take a batch of one host, by a clock in seconds."""
        for item in items:
            at = max(item.at, self._latest.get(host, item.at))
            self._latest[host] = at
            self._count += 1
            heapq.heappush(self._waiting, (at, self._count, host, item))
            self._arrivals.append((now, at))

    def due(self, now: float) -> list[HostItem]:
        """Those that were held long enough, with all that are older than these."""
        up_to: datetime | None = None
        while self._arrivals and self._arrivals[0][0] <= now - self.window_seconds:
            at = self._arrivals.popleft()[1]
            up_to = at if up_to is None else max(up_to, at)
        return self._pop(up_to) if up_to else []

    def rest(self) -> list[HostItem]:
        """Everything that is still held."""
        self._arrivals.clear()
        return self._pop(None)

    def _pop(self, up_to: datetime | None) -> list[HostItem]:
        given: list[HostItem] = []
        while self._waiting and (up_to is None or self._waiting[0][0] <= up_to):
            _, _, host, item = heapq.heappop(self._waiting)
            given.append((host, item))
        return given
