"""One host: connect, run its streams over one connection, back off, again."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from contextlib import suppress
from datetime import timedelta
from time import monotonic
from typing import TYPE_CHECKING, TypeVar

from dflashtui.errors import DflashError, OwnFault, TransportLost
from dflashtui.fleet.backoff import Backoff
from dflashtui.fleet.board import utc_now
from dflashtui.model.host import LinkState

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from contextlib import AbstractAsyncContextManager

    from dflashtui.fleet.host_state import HostState
    from dflashtui.transport.base import Transport

    Connect = Callable[[Callable[[str], None]], AbstractAsyncContextManager[Transport]]
    Serve = Callable[[Transport], Awaitable[None]]

FLAPPING_LOSSES, FLAPPING_SECONDS = 3, 600.0
LOG = logging.getLogger(__name__)
E = TypeVar("E", bound=BaseException)


class Supervisor:
    """Keeps one host served until cancelled. What waiting cannot cure waits for a person (`retry_now`)."""

    def __init__(self, state: HostState, connect: Connect, serve: Serve) -> None:
        """`connect(report_step)` opens the transport; `serve(transport)` runs until the link is lost."""
        self._state = state
        self._connect = connect
        self._serve = serve
        self._wake = asyncio.Event()
        self._backoff = Backoff()
        self._losses: deque[float] = deque()
        self._is_left = False

    def retry_now(self) -> None:
        """A person asked: do not wait any longer."""
        self._wake.set()

    def leave(self) -> None:
        """Said before `run` is cancelled: a TaskGroup that fails in that very moment tells of its failure alone."""
        self._is_left = True

    async def run(self) -> None:
        """Never returns by itself."""
        while True:
            failure, lived_seconds = await self._serve_once()
            if self._is_left:
                raise asyncio.CancelledError
            self._note_loss(lived_seconds)
            self._wake.clear()
            if failure.transient:
                wait = self._backoff.next_seconds(lived_seconds=lived_seconds)
                self._down(failure, wait)
                await self._wait(wait)
            else:
                self._down(failure, None)
                await self._wake.wait()
                self._backoff.reset()

    async def _serve_once(self) -> tuple[DflashError, float]:
        """Why the link ended, and how long it was up."""
        up_since, lost = None, None
        self._state.link(LinkState.CONNECTING, attempt=self._backoff.attempts, error=self._state.snapshot.link.error)
        try:
            async with self._connect(self._step) as transport:
                up_since = monotonic()
                self._state.link(LinkState.UP)
                await self._serve(transport)
        except* DflashError as failures:
            lost = _most_telling(failures)
        except* Exception as faults:
            LOG.exception("%s: fault while serving it", self._state.name)
            lost = OwnFault(self._state.name, f"a fault of dflashtui itself, see its log: {_leaves(faults)[0]!r}")
        if lost is None:
            lost = TransportLost(self._state.name, "its streams ended without a reason")
        return lost, monotonic() - up_since if up_since else 0.0

    def _step(self, step: str) -> None:
        self._state.link(
            LinkState.CONNECTING, attempt=self._backoff.attempts, step=step, error=self._state.snapshot.link.error
        )

    def _note_loss(self, lived_seconds: float) -> None:
        """Count the links that were up and ended, of the last minutes."""
        now = monotonic()
        if lived_seconds:
            self._losses.append(now)
        while self._losses and now - self._losses[0] > FLAPPING_SECONDS:
            self._losses.popleft()

    def _down(self, failure: DflashError, wait_seconds: float | None) -> None:
        retry_at = None if wait_seconds is None else utc_now() + timedelta(seconds=wait_seconds)
        count = len(self._losses)
        words = f"flapping, {count} links lost within {FLAPPING_SECONDS / 60:.0f} minutes; "
        note = words if count >= FLAPPING_LOSSES else ""
        self._state.down(failure, attempt=self._backoff.attempts, retry_at=retry_at, note=note)

    async def _wait(self, seconds: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._wake.wait()


def _most_telling(failures: BaseExceptionGroup[DflashError]) -> DflashError:
    """The failure to show: one that a person must act on, before a lost link."""
    leaves = list(_leaves(failures))
    return next((leaf for leaf in leaves if not leaf.transient), leaves[0])


def _leaves(group: BaseExceptionGroup[E]) -> list[E]:
    found: list[E] = []
    for failure in group.exceptions:
        found += _leaves(failure) if isinstance(failure, BaseExceptionGroup) else [failure]
    return found
