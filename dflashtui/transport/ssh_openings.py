"""Channels that are being opened or closed: giving up on one must not leave it open behind our back."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine

T = TypeVar("T")


class Openings:
    """Owner of the tasks that open and close channels of one connection.

    asyncssh forgets a channel whose opening is cancelled, and the host, which never hears of it, keeps it open.
    So an opening is always awaited to its end, and undone if nobody wants it any more.
    """

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[Any]] = set()

    async def result(self, work: Coroutine[Any, Any, T], undo: Callable[[T | None], Awaitable[None]]) -> T:
        """What `work` returns. If nobody waits any more: `undo` gets it, or `None` for a failure."""
        task = self._started(work)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            self._started(_undone(task, undo))
            raise

    async def at_most(self, seconds: float, work: Coroutine[Any, Any, None]) -> None:
        """Wait for `work` for that long; after that, and after a cancellation, it goes on by itself."""
        await asyncio.wait([self._started(work)], timeout=seconds)

    def _started(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def settled_within(self, seconds: float) -> None:
        """Wait, at most that long, until nothing is under way."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=seconds)

    async def wait_closed(self) -> None:
        """Wait for all of them. They end when the connection does."""
        while self._tasks:
            await asyncio.wait(self._tasks)


async def _undone(task: asyncio.Task[T], undo: Callable[[T | None], Awaitable[None]]) -> None:
    await asyncio.wait([task])
    await undo(None if task.cancelled() or task.exception() else task.result())
