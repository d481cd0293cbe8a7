"""Where a survey looks, and how long it may."""

from __future__ import annotations

import time


class OutOfTime(Exception):
    """The time limit of the survey has passed: what was found so far is all."""


class Place:
    """The unit's environment as its interpreter sees it.

    `path`: its `sys.path`, without the folder of the entry point, which the interpreter would put first.
    """

    def __init__(self, path: list[str], limit_seconds: float) -> None:
        self.path = path
        self.limit_seconds = limit_seconds
        self._ends = time.monotonic() + limit_seconds

    @property
    def left_seconds(self) -> float:
        """May be negative."""
        return self._ends - time.monotonic()

    def check(self, spared: float = 0.0) -> None:
        """To be called now and then; `spared`: the part of the limit that is left for the end. Raises `OutOfTime`."""
        if self.left_seconds <= spared * self.limit_seconds:
            raise OutOfTime
