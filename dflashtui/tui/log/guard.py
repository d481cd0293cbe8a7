"""A bound on the time that somebody's regular expression may take.

A pattern such as `(a+)+$` needs ages for a short line, and `re` cannot be asked to stop. But it looks for signals on
its way (CPython, `_sre.c`: every 4096 steps), so the process's own clock of processor time (setitimer(2),
`ITIMER_VIRTUAL`) ends it: no second process, no other dialect, 2 µs for each use. In other threads than the main one
nothing is bounded.
"""

from __future__ import annotations

import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType


class TooSlow(Exception):
    """The time is over."""


class _Alarm:
    """One for the process, as its clock is."""

    def __init__(self) -> None:
        self.is_armed = False
        self.has_handler = False

    def ring(self, _number: int, _frame: FrameType | None) -> None:
        """A signal that comes late, when the work is done already, means nothing."""
        if self.is_armed:
            self.is_armed = False
            raise TooSlow

    def arm(self, seconds: float) -> None:
        if not self.has_handler:
            signal.signal(signal.SIGVTALRM, self.ring)
            self.has_handler = True
        self.is_armed = True
        signal.setitimer(signal.ITIMER_VIRTUAL, seconds)

    def disarm(self) -> None:
        self.is_armed = False
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


ALARM = _Alarm()


@contextmanager
def bounded(seconds: float) -> Iterator[None]:
    """Let the work within use so much processor time. Raises `TooSlow`. An inner bound does not extend an outer one."""
    if ALARM.is_armed or threading.current_thread() is not threading.main_thread():
        yield
        return
    ALARM.arm(seconds)
    try:
        yield
    finally:
        ALARM.disarm()
