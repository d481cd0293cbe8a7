"""Fails a test in which something computes for too long on the event loop: nobody's keys are drawn meanwhile."""

from __future__ import annotations

import asyncio.events
from contextlib import contextmanager
from time import thread_time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

LIMIT_SECONDS = 2.0


@contextmanager
def loop_watch(limit_seconds: float = LIMIT_SECONDS) -> Iterator[None]:
    """Raises `AssertionError` at the end if a callback took more of the processor than this, however busy it is."""
    held: list[str] = []
    run = asyncio.events.Handle._run

    def timed(handle: asyncio.Handle) -> None:
        began = thread_time()
        run(handle)
        seconds = thread_time() - began
        if seconds >= limit_seconds:
            held.append(f"{seconds:.1f} s: {handle!r}")

    asyncio.events.Handle._run = timed  # type: ignore[assignment,method-assign]
    try:
        yield
    finally:
        asyncio.events.Handle._run = run  # type: ignore[method-assign]
    assert not held, f"the event loop was held: {held}"
