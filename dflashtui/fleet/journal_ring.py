"""The newest items of one unit, in the journal's order, each once. Pure."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from dflashtui.model.journal import JournalEntry, JournalGap
from dflashtui.source.journal_place import place, stands_at_or_before

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from dflashtui.model.journal import JournalItem
    from dflashtui.source.journal_place import Place

RING_ITEMS = 500
RING_CHARACTERS = 2**20


class Bounded:
    """Items in order, bounded in number and in characters of text; the oldest go first."""

    def __init__(self, limit_items: int, limit_characters: int) -> None:
        self._limit_items = limit_items
        self._limit_characters = limit_characters
        self._characters = 0
        self.items: deque[JournalItem] = deque()

    def append(self, item: JournalItem) -> list[JournalItem]:
        """Add the newest; gives what had to go. Two counts of lost entries in a row become one."""
        if self.items and (sum_of_both := _sum_of_gaps(self.items[-1], item)):
            self.items[-1] = sum_of_both
            return []
        self.items.append(item)
        self._characters += characters(item)
        gone: list[JournalItem] = []
        while len(self.items) > self._limit_items or (
            self._characters > self._limit_characters and len(self.items) > 1
        ):
            gone.append(self.items.popleft())
            self._characters -= characters(gone[-1])
        return gone

    def _is_too_much(self) -> bool:
        too_long = self._characters > self._limit_characters and len(self.items) > 1
        return too_long or len(self.items) > self._limit_items

    def take(self) -> tuple[JournalItem, ...]:
        """All of them; none are left."""
        taken = tuple(self.items)
        self.items.clear()
        self._characters = 0
        return taken


def characters(item: JournalItem) -> int:
    """What an item weighs."""
    return len(item.message) if isinstance(item, JournalEntry) else 0


def _sum_of_gaps(before: JournalItem, item: JournalItem) -> JournalGap | None:
    if not isinstance(before, JournalGap) or not isinstance(item, JournalGap):
        return None
    if before.cursor or item.cursor or (before.reason, before.unit) != (item.reason, item.unit):
        return None
    if before.entries_lost is None or item.entries_lost is None:
        return before
    return before.model_copy(update={"entries_lost": before.entries_lost + item.entries_lost})


class JournalRing:
    """What a unit's followers gave, extended backwards by one-shot reads."""

    def __init__(self, limit_items: int = RING_ITEMS, limit_characters: int = RING_CHARACTERS) -> None:
        self._limits = (limit_items, limit_characters)
        self._kept = Bounded(*self._limits)
        self._cursors: set[str] = set()
        self._read_up_to: Place | None = None
        self._is_whole = False

    def __len__(self) -> int:
        return len(self._kept.items)

    def reaches_back(self, lines: int) -> bool:
        """Whether the newest `lines` items are all here, as far as the ring is wide enough."""
        return self._is_whole or len(self) >= min(lines, self._limits[0])

    def newest(self, lines: int) -> tuple[JournalItem, ...]:
        """Up to `lines` items, oldest first."""
        return tuple(self._kept.items)[-lines:] if lines > 0 else ()

    def extend(self, items: Iterable[JournalItem]) -> list[JournalItem]:
        """Take what a follower gave; gives back what was not here before."""
        new: list[JournalItem] = []
        for item in items:
            if self._is_new(item):
                self._append(item)
                new.append(item)
        return new

    def put_before(self, history: Sequence[JournalItem], *, asked: int) -> None:
        """Take what a one-shot read gave: the newest `asked` items at a moment when a follower already ran."""
        kept = self._kept.take()
        if not self._joins(history, kept):
            # the follower lags behind by more than was asked for: what lies between is still to come
            self._refill(kept)
            return
        if not any(item.cursor for item in kept):
            self._read_up_to = place(_last_cursor(history))
        older = self._until_known(history)
        self._is_whole = len(history) < asked
        self._refill((*older, *kept))

    def _joins(self, history: Sequence[JournalItem], kept: Sequence[JournalItem]) -> bool:
        last_kept = _last_cursor(kept)
        if last_kept is None or any(item.cursor in self._cursors for item in history if item.cursor):
            return True
        first_read = next((item.cursor for item in history if item.cursor), None)
        return first_read is None or not stands_at_or_before(last_kept, place(first_read))

    def _until_known(self, history: Sequence[JournalItem]) -> list[JournalItem]:
        older: list[JournalItem] = []
        for item in history:
            if item.cursor in self._cursors:
                break
            older.append(item)
        return older

    def _is_new(self, item: JournalItem) -> bool:
        if item.cursor is None:
            return True
        return item.cursor not in self._cursors and not stands_at_or_before(item.cursor, self._read_up_to)

    def _append(self, item: JournalItem) -> None:
        if item.cursor:
            self._cursors.add(item.cursor)
        for gone in self._kept.append(item):
            self._is_whole = False
            self._cursors.discard(gone.cursor or "")

    def _refill(self, items: Iterable[JournalItem]) -> None:
        self._cursors.clear()
        for item in items:
            self._append(item)


def _last_cursor(items: Sequence[JournalItem]) -> str | None:
    return next((item.cursor for item in reversed(items) if item.cursor), None)
