"""Whether something was vacuumed away from under a live follower, which says nothing of it. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from dflashtui.source.journal_place import place

SILENCE_SECONDS = 1.0
BEHIND_SECONDS = 1.0
SOON_SECONDS = 5.0
LATE_SECONDS = 60.0


@dataclass(slots=True)
class Doubt:
    """The numbers of entries jump where some were vacuumed, and wherever units that are not followed write.

    So the last entry before the first jump is kept in mind until the host was asked for it: vacuuming begins at the
    old end, and if that entry is there, so is all that came after it. The host is asked at once where a hole is
    likely, after a silence or behind the present; else, and again, once a minute.
    """

    since: str | None = None
    """The cursor of the entry after which nothing is sure."""
    since_seconds: float = 0.0
    """When it was read, by the reader's clock."""
    asked_at: float | None = None

    def note(self, before: str | None, last: str | None, count: int, now: float) -> None:
        """After `before`, `count` entries were read up to `last`."""
        if self.since is None and _skips(before, last, count):
            self.since, self.since_seconds = before, now

    def is_due(self, now: float, *, silent_seconds: float, behind_seconds: float) -> bool:
        """Whether to ask now."""
        if self.since is None:
            return False
        is_behind = behind_seconds >= BEHIND_SECONDS
        if self.asked_at is None and (is_behind or silent_seconds >= SILENCE_SECONDS):
            return True
        asked_at = self.since_seconds if self.asked_at is None else self.asked_at
        return now - asked_at >= (SOON_SECONDS if is_behind else LATE_SECONDS)

    def settle(self) -> None:
        """The hole was told, or there is none."""
        self.since = None


def _skips(before: str | None, last: str | None, count: int) -> bool:
    start, end = place(before), place(last)
    return bool(start and end and start.seqnum_id == end.seqnum_id and end.seqnum - start.seqnum > count)
