"""Blocking work beside the event loop."""

from __future__ import annotations

import asyncio
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


async def aside(work: Callable[[], T]) -> T:
    """What `work` returns, computed in a daemon thread.

    For work that may hang (name resolution, a `Match exec` of ssh_config): executor threads are joined at exit,
    so one that is stuck would hold the quit. Cancelling leaves the thread to itself.
    """
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[T] = loop.create_future()

    def settle(result: T | None, failure: BaseException | None) -> None:
        if answer.done():
            return
        if failure is not None:
            answer.set_exception(failure)
        else:
            answer.set_result(result)  # type: ignore[arg-type]  # T itself may be None

    def compute() -> None:
        outcome: tuple[T | None, BaseException | None]
        try:
            outcome = work(), None
        except BaseException as failure:  # noqa: BLE001 - raised again where it is awaited
            outcome = None, failure
        with suppress(RuntimeError):  # the loop was closed meanwhile: nobody waits any more
            loop.call_soon_threadsafe(settle, *outcome)

    threading.Thread(target=compute, name="aside", daemon=True).start()
    return await answer
