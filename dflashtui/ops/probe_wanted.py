"""What a probe is asked to watch, and where its time comes from."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

DEFAULT_LIMIT_SECONDS = 900.0


@dataclass(frozen=True, slots=True)
class Timers:
    """Where time comes from; tests bring their own."""

    monotonic: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    now: Callable[[], datetime] = lambda: datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which start is watched, and how."""

    host: str
    unit: str
    engine: str | None = None
    """As in the inventory: whose phases its log tells."""
    is_server: bool = True
    """It is meant to run until it is stopped: an end with status 0 is a failure."""
    gpus: tuple[int | str, ...] = ()
    """Indexes or UUIDs that the inventory gives it."""
    limit_seconds: float = DEFAULT_LIMIT_SECONDS
