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

    def check(self) -> None:
        """To be called now and then. Raises `OutOfTime`."""
        if self.left_seconds <= 0:
            raise OutOfTime
