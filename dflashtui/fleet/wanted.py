"""A task that was told to end, and forgot it."""

from __future__ import annotations

import asyncio


def require_wanted() -> None:
    """Raise `CancelledError` where somebody has cancelled this task: to be called before it goes on after a failure.

    A `TaskGroup` whose own task fails in the very moment in which it is cancelled from outside raises that failure
    alone (until Python 3.13): whoever handles it and goes on would never end.
    """
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError
