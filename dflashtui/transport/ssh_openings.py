"""Channels that are being opened: giving up on one must not leave it open behind our back."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

T = TypeVar("T")


class Openings:
    """Owner of the tasks that open channels of one connection.

    asyncssh forgets a channel whose opening is cancelled, and the host, which never hears of it, keeps it open.
    So an opening is always awaited to its end, and undone if nobody wants it any more.
    """

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()

    async def result(self, work: Coroutine[Any, Any, T], undo: Callable[[T | None], None]) -> T:
        """What `work` returns. If nobody waits any more: `undo` gets it, or `None` for a failure."""
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            task.add_done_callback(lambda done: _undone(done, undo))
            raise

    async def wait_closed(self) -> None:
        """Wait for all of them. They end when the connection does."""
        await asyncio.gather(*self._tasks, return_exceptions=True)


def _undone(task: asyncio.Task[T], undo: Callable[[T | None], None]) -> None:
    undo(None if task.cancelled() or task.exception() else task.result())
