"""Clocks of the demo: the wall clock, and one that stands still until it is advanced."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

STORY = datetime(2026, 12, 1, 3, 0, tzinfo=UTC)
"""The day of the story that the demo tells."""


class StandingClock:
    """A clock for tests and pictures."""

    def __init__(self, start: datetime = STORY) -> None:
        self._now = start

    def __call__(self) -> datetime:
        """The moment at which it stands."""
        return self._now

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        self._now += timedelta(seconds=seconds)


def moment(seconds: float) -> datetime:
    """Seconds since the epoch as an aware datetime."""
    return datetime.fromtimestamp(seconds, UTC)
