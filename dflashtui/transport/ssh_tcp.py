"""A TCP connection that the host made for us, whose loss is told as every loss is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflashtui.transport.ssh_errors import connected

if TYPE_CHECKING:
    from collections.abc import Callable

    import asyncssh


class TcpReader:
    """The reading half. Raises `TransportLost` where asyncssh's own error would reach callers who do not know it."""

    def __init__(self, reader: asyncssh.SSHReader[bytes], host: str, reason: Callable[[], str]) -> None:
        self._reader, self._host, self._reason = reader, host, reason

    async def read(self, count: int = -1) -> bytes:
        """Up to `count` bytes; none at the end."""
        with connected(self._host, self._reason):
            return await self._reader.read(count)

    async def readline(self) -> bytes:
        """One line with its end, or what was left."""
        with connected(self._host, self._reason):
            return await self._reader.readline()


class TcpWriter:
    """The writing half."""

    def __init__(self, writer: asyncssh.SSHWriter[bytes], host: str, reason: Callable[[], str]) -> None:
        self._writer, self._host, self._reason = writer, host, reason

    def write(self, data: bytes) -> None:
        """Send, as soon as there is room."""
        with connected(self._host, self._reason):
            self._writer.write(data)

    def write_eof(self) -> None:
        """Nothing more is sent."""
        self._writer.write_eof()

    async def drain(self) -> None:
        """Wait until there is room."""
        with connected(self._host, self._reason):
            await self._writer.drain()

    def close(self) -> None:
        """End the connection."""
        self._writer.close()

    async def wait_closed(self) -> None:
        """Wait until it is ended."""
        with connected(self._host, self._reason):
            await self._writer.wait_closed()
