"""Waiting for a condition; the time limit of the test is the deadline."""

import asyncio
from collections.abc import Callable
from pathlib import Path


async def until(condition: Callable[[], object]) -> None:
    """Return when `condition()` holds."""
    while not condition():  # noqa: ASYNC110 - conditions of the world outside set no event
        await asyncio.sleep(0.01)


def is_running(process_id: int) -> bool:
    """Whether a process is there, zombies aside."""
    try:
        status = Path(f"/proc/{process_id}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return status.rpartition(")")[2].split()[0] != "Z"


async def ends(process_id: int) -> None:
    """Return when a process is gone."""
    await until(lambda: not is_running(process_id))
