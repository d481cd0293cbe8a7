"""The console's own clock is set back: what was seen before moves along, so that nothing looks newer than it is."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Never

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from dflashtui.fleet.host_state import HostState

PERIOD_SECONDS = 1.0
LEAST_SECONDS = 0.5
"""Less than that is a clock that is led to the right time, not one that was set."""


def steady() -> float:
    """Seconds by a clock that nobody sets and that goes on while the machine sleeps (clock_gettime(2))."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic()


async def follow_clock(
    hosts: Iterable[HostState], wall: Callable[[], float] = time.time, steady: Callable[[], float] = steady
) -> Never:
    """Until cancelled. A clock that was set forward makes values look too old, for a moment: that deceives nobody."""
    known = wall() - steady()
    while True:
        await asyncio.sleep(PERIOD_SECONDS)
        here = wall() - steady()
        if known - here > LEAST_SECONDS:
            for host in hosts:
                host.clock_set_back(known - here)
        known = here
