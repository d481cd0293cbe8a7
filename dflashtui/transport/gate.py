"""How many handshakes this process has under way: sshd drops logins when too many knock at once."""

from __future__ import annotations

import asyncio
import random
from collections import defaultdict
from contextlib import ExitStack, asynccontextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

HANDSHAKES_AT_ONCE = 8
JITTER_SECONDS = 0.05
LONGEST_TURN_SECONDS = 2.0
"""A handshake that takes longer waits for its host, and needs no turn for that."""


class HandshakeGate:
    """Shared by all hosts of a fleet: at most `limit` handshakes at once, and `limit` to one address.

    `MaxStartups 10:30:100` of sshd_config(5) refuses logins beyond 10 that are not finished.
    """

    def __init__(self, limit: int = HANDSHAKES_AT_ONCE) -> None:
        self.shared: object = None
        """Whatever one kind of transport keeps for all hosts together."""
        self._handshakes = asyncio.Semaphore(limit)
        self._addresses: defaultdict[str, asyncio.Semaphore] = defaultdict(lambda: asyncio.Semaphore(limit))

    @asynccontextmanager
    async def door(self, address: str) -> AsyncIterator[None]:
        """Held from the first packet to `address` until the login is done: a dead address delays no other."""
        semaphore = self._addresses[address]
        crowded = semaphore.locked()
        async with semaphore:
            if crowded:
                await asyncio.sleep(random.uniform(0, JITTER_SECONDS))  # noqa: S311 - spreads load, keeps no secret
            yield

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Held while keys are exchanged; given up by itself when the other side is slow."""
        await self._handshakes.acquire()
        with ExitStack() as held:
            held.callback(self._handshakes.release)
            timer = asyncio.get_running_loop().call_later(LONGEST_TURN_SECONDS, held.close)
            held.callback(timer.cancel)
            yield
