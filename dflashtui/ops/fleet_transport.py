"""A host of a fleet as a `Transport`, for what asks a host without knowing of fleets."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Never

from dflashtui.errors import SourceUnavailable
from dflashtui.transport.base import OUTPUT_LIMIT_BYTES

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path, PurePosixPath

    from dflashtui.fleet.base import Fleet
    from dflashtui.transport.base import Completed, Stream


class FleetTransport:
    """Over the connection that the fleet keeps, whichever it is at that moment."""

    channels = 0
    """Counted by the fleet's own connection."""

    def __init__(self, fleet: Fleet, host: str) -> None:
        self.host = host
        self._fleet = fleet
        self._turn = asyncio.Lock()

    async def run(
        self,
        argv: Sequence[str],
        *,
        stdin: bytes = b"",
        output_limit_bytes: int = OUTPUT_LIMIT_BYTES,  # noqa: ARG002 - the fleet has one limit for all
    ) -> Completed:
        """See `Transport`."""
        return await self._fleet.ask(self.host, argv, stdin=stdin)

    @asynccontextmanager
    async def stream(self, argv: Sequence[str]) -> AsyncIterator[Stream]:
        """One after the other: the fleet's own sources hold most of the sessions that sshd grants."""
        async with self._turn, self._fleet.command(self.host, argv) as running:
            yield running

    async def put(self, data: bytes, path: PurePosixPath, *, mode: int) -> None:  # noqa: ARG002 - the interface
        """Files of hosts are written by a push, which keeps what it replaces."""
        raise SourceUnavailable(self.host, "put", f"{path}: not over a fleet's connection")

    def local_socket(self, path: str) -> AbstractAsyncContextManager[Path]:
        """Sockets belong to the fleet's own sources."""
        raise SourceUnavailable(self.host, "local socket", f"{path}: not over a fleet's connection")

    async def open_tcp(self, address: str, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """See `Transport`."""
        return await self._fleet.open_tcp(self.host, address, port)

    async def lost(self) -> Never:
        """The fleet connects again by itself."""
        while True:
            await asyncio.Event().wait()
