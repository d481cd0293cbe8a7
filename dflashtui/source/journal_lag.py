"""How far a follower is behind the host, and who is to blame. Pure."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dflashtui.model.journal import JournalGap

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dflashtui.model.journal import JournalItem

BEHIND_SECONDS = 5.0
FLOOD_LINES = 5_000
"""Written by one unit while the follower fell behind."""


@dataclass(slots=True)
class Lag:
    """Grown since the follower was nearest to the host's present, so that neither clock need be right.

    `journalctl -o json` prints about 28 000 lines a second on one core, journald takes in more.
    """

    seconds: float = 0.0
    _least_apart: float | None = None
    _lines: Counter[str] = field(default_factory=Counter)

    def note(self, items: Sequence[JournalItem], now: float) -> None:
        """A batch was read, by a clock in seconds."""
        newest = next((item for item in reversed(items) if item.cursor), None)
        if newest is None:
            return
        apart = now - newest.at.timestamp()
        self._least_apart = apart if self._least_apart is None else min(apart, self._least_apart)
        self.seconds = apart - self._least_apart
        if self.seconds < 1:
            self._lines.clear()
        for item in items:
            if item.unit:
                self._lines[item.unit] += (item.entries_lost or 0) if isinstance(item, JournalGap) else 1

    @property
    def flooding_unit(self) -> str | None:
        """The unit whose lines must be skipped to catch up; `None`: not far behind, or not because of one unit."""
        if self.seconds < BEHIND_SECONDS or not self._lines:
            return None
        unit, count = self._lines.most_common(1)[0]
        return unit if count >= FLOOD_LINES else None
