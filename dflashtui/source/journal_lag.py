"""How far a follower is behind the host, and who is to blame. Pure."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dflashtui.model.journal import JournalEntry, JournalGap

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dflashtui.model.journal import JournalItem

BEHIND_SECONDS = 5.0
FLOOD_LINES = 5_000
"""Written by one unit while the follower fell behind."""


@dataclass(slots=True)
class Lag:
    """Grown since the follower was nearest to the host's present, so that no clock need be right.

    A step of the host's clock grows only what is measured by that clock, a pause of the host (its monotonic clock
    stands still) only what is measured by the other: what has grown less is believed.
    `journalctl -o json` prints about 28 000 lines a second on one core, journald takes in more.
    """

    seconds: float = 0.0
    _boot_id: str | None = None
    _least_apart: tuple[float, float] | None = None
    _lines: Counter[str] = field(default_factory=Counter)

    def note(self, items: Sequence[JournalItem], now: float) -> None:
        """A batch was read, by a clock in seconds."""
        newest = next((item for item in reversed(items) if isinstance(item, JournalEntry)), None)
        if newest is None:
            return
        if newest.boot_id != self._boot_id:
            self._boot_id, self._least_apart = newest.boot_id, None
        self._measure(_apart(newest, now))
        if self.seconds < 1:
            self._lines.clear()
        for item in items:
            if item.unit:
                self._lines[item.unit] += (item.entries_lost or 0) if isinstance(item, JournalGap) else 1

    def _measure(self, apart: tuple[float, float]) -> None:
        least = self._least_apart or apart
        self._least_apart = min(apart[0], least[0]), min(apart[1], least[1])
        self.seconds = min(apart[0] - self._least_apart[0], apart[1] - self._least_apart[1])

    @property
    def flooding_unit(self) -> str | None:
        """The unit whose lines must be skipped to catch up; `None`: not far behind, or not because of one unit."""
        if self.seconds < BEHIND_SECONDS or not self._lines:
            return None
        unit, count = self._lines.most_common(1)[0]
        return unit if count >= FLOOD_LINES else None


def _apart(entry: JournalEntry, now: float) -> tuple[float, float]:
    """From our clock, by both clocks of the host: that of its boot, and that of the day."""
    by_day = now - entry.at.timestamp()
    return (by_day if entry.monotonic_usec is None else now - entry.monotonic_usec / 1e6), by_day
