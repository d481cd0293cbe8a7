"""The fleet as the console sees it: newest snapshots, events, history. No widget, no I/O of its own."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from dflashtui.tui.history import History
from dflashtui.tui.picture import Picture

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from dflashtui.fleet.base import Change
    from dflashtui.model.event import Event
    from dflashtui.model.host import HostSnapshot

KEPT_EVENTS = 2000


class Feed:
    """Takes changes, gives pictures."""

    def __init__(
        self, snapshots: Sequence[HostSnapshot], *, is_demo: bool, read_only: bool, has_inventory: bool = True
    ) -> None:
        self.history = History()
        self._snapshots = {snapshot.name: snapshot for snapshot in snapshots}
        self._events: deque[Event] = deque(maxlen=KEPT_EVENTS)
        self._events_seen = 0
        self._is_demo = is_demo
        self._read_only = read_only
        self._has_inventory = has_inventory

    def take(self, change: Change) -> None:
        """Keep what a change brings."""
        self._snapshots[change.host] = change.snapshot
        self.history.note(change.snapshot)
        for event in change.events:
            self.tell(event)

    def tell(self, event: Event) -> None:
        """One more event."""
        self._events.append(event)
        self._events_seen += 1

    def picture(self, now: datetime, frozen_since: datetime | None = None) -> Picture:
        """All that is known now."""
        return Picture(
            now=now,
            hosts=tuple(self._snapshots.values()),
            events=tuple(self._events),
            first_event=self._events_seen - len(self._events),
            is_demo=self._is_demo,
            read_only=self._read_only,
            frozen_since=frozen_since,
            has_inventory=self._has_inventory,
        )
