"""When values are drawn: events at once, samples together and at most four times a second."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.screen import Screen
    from textual.timer import Timer

LEAST_SECONDS = 0.25
"""Between two draws of samples, whatever the hosts do."""
EVENT_LEAST_SECONDS = 0.15
"""An event is on screen within a quarter of a second of its happening, the way from the host included."""
AT_ONCE_SECONDS = 0.03
"""An event waits for others of the same moment."""
TOGETHER_SECONDS = 0.5
"""Samples of several hosts are drawn together."""
IDLE_SECONDS = 1.0
"""Ages grow even when nothing comes."""


class Beat:
    """Calls `draw` for a screen."""

    def __init__(self, screen: Screen[None], draw: Callable[[], None]) -> None:
        self._screen = screen
        self._draw = draw
        self._timer: Timer | None = None
        self._due = 0.0
        self._last = 0.0

    def event(self) -> None:
        """Something happened."""
        self._in(AT_ONCE_SECONDS, EVENT_LEAST_SECONDS)

    def sample(self) -> None:
        """New values, and no more."""
        self._in(TOGETHER_SECONDS)

    def drawn(self) -> None:
        """It was drawn just now, by whomever."""
        self._last = monotonic()
        self._due = 0.0
        self._in(IDLE_SECONDS)

    def _in(self, seconds: float, least: float = LEAST_SECONDS) -> None:
        now = monotonic()
        due = max(now + seconds, self._last + least)
        if self._timer is not None and self._due and self._due <= due:
            return
        if self._timer is not None:
            self._timer.stop()
        self._due = due
        self._timer = self._screen.set_timer(due - now, self._draw)
