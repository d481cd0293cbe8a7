"""The newest snapshot of every host, and who wants to hear of changes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from dflashtui.fleet.base import Change
from dflashtui.model.events import events_between

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from dflashtui.model.event import Event
    from dflashtui.model.host import HostSnapshot


def utc_now() -> datetime:
    """The clock that real fleets use."""
    return datetime.now(UTC)


class Board:
    """Snapshots by host. The newest wins; events are kept for every subscriber until taken."""

    def __init__(self, snapshots: Iterable[HostSnapshot], clock: Callable[[], datetime] = utc_now) -> None:
        self._snapshots = {snapshot.name: snapshot for snapshot in snapshots}
        self._subscribers: set[_Subscriber] = set()
        self._clock = clock

    @property
    def names(self) -> tuple[str, ...]:
        """In the order of the inventory."""
        return tuple(self._snapshots)

    def __getitem__(self, host: str) -> HostSnapshot:
        return self._snapshots[host]

    def post(self, snapshot: HostSnapshot, *extra: Event) -> None:
        """Make this the newest snapshot of its host and tell what changed; an equal one tells nothing."""
        before = self._snapshots[snapshot.name]
        if snapshot == before and not extra:
            return
        self._snapshots[snapshot.name] = snapshot
        events = (*events_between(before, snapshot, self._clock()), *extra)
        for subscriber in self._subscribers:
            subscriber.put(Change(snapshot.name, snapshot, events))

    @contextmanager
    def subscribe(self) -> Iterator[AsyncIterator[Change]]:
        """Every host once at once, then each change."""
        subscriber = _Subscriber(Change(name, snapshot) for name, snapshot in self._snapshots.items())
        self._subscribers.add(subscriber)
        try:
            yield subscriber
        finally:
            self._subscribers.discard(subscriber)


class _Subscriber(AsyncIterator[Change]):
    """Changes that were not taken yet, one for each host."""

    def __init__(self, first: Iterable[Change]) -> None:
        self._waiting = {change.host: change for change in first}
        self._ready = asyncio.Event()
        if self._waiting:
            self._ready.set()

    def put(self, change: Change) -> None:
        """Merge with what waits: newest snapshot, all events."""
        earlier = self._waiting.get(change.host)
        events = (*earlier.events, *change.events) if earlier else change.events
        self._waiting[change.host] = Change(change.host, change.snapshot, events)
        self._ready.set()

    async def __anext__(self) -> Change:
        await self._ready.wait()
        change = self._waiting.pop(next(iter(self._waiting)))
        if not self._waiting:
            self._ready.clear()
        return change
