"""What a probe is asked to watch, and where its time comes from."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from dflashtui.config.model import Config

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


def wanted_of(config: Config, host: str, unit: str, limit_seconds: float | None = None) -> Wanted:
    """What the inventory says of the unit; `limit_seconds` in place of its own time limit."""
    defined = config.unit(unit)
    if defined is None:
        return Wanted(host=host, unit=unit, is_server=False, limit_seconds=limit_seconds or DEFAULT_LIMIT_SECONDS)
    return Wanted(
        host=host,
        unit=unit,
        engine=defined.engine,
        is_server=defined.engine != "none" or defined.readiness.url is not None,
        gpus=defined.gpus,
        limit_seconds=limit_seconds or defined.readiness.timeout_seconds or DEFAULT_LIMIT_SECONDS,
    )
