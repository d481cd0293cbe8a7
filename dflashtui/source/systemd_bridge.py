"""systemd-stdio-bridge: the bus through a session channel, where forwarding of sockets is forbidden."""

from __future__ import annotations

import asyncio
import socket
from contextlib import asynccontextmanager, closing, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from dflashtui.errors import SourceUnavailable, TransportError
from dflashtui.source.systemd_bus import beside
from dflashtui.text import decoded, printable

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from dflashtui.transport.base import Stream, Transport

CHUNK_BYTES = 65536


@asynccontextmanager
async def bridge_socket(transport: Transport, bus_socket: str) -> AsyncIterator[Path]:
    """A local socket for one connection to the host's bus. The folder is private (mode 0700)."""
    argv = ("systemd-stdio-bridge", f"--bus-path=unix:path={bus_socket}")
    with TemporaryDirectory(prefix="dflashtui-") as folder, closing(_listener(Path(folder) / "bus")) as listener:
        async with transport.stream(argv) as stream, beside(_serve(listener, stream)):
            try:
                yield Path(folder) / "bus"
            except SourceUnavailable as failed:
                raise _with_stderr(failed, stream) from failed


def _listener(path: Path) -> socket.socket:
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(str(path))
    listener.listen(1)
    listener.setblocking(False)  # noqa: FBT003 - the standard library's signature
    return listener


async def _serve(listener: socket.socket, stream: Stream) -> None:
    """Pass bytes both ways until either side ends; the bus' own end tells the rest."""
    connection, _ = await asyncio.get_running_loop().sock_accept(listener)
    reader, writer = await asyncio.open_connection(sock=connection)
    ways = (asyncio.ensure_future(_up(reader, stream)), asyncio.ensure_future(_down(stream, writer)))
    try:
        await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
    finally:
        writer.close()  # first: a cancellation may end this block at any wait
        for way in ways:
            way.cancel()
        await asyncio.gather(*ways, return_exceptions=True)
        with suppress(OSError):
            await writer.wait_closed()


async def _up(reader: asyncio.StreamReader, stream: Stream) -> None:
    with suppress(OSError, TransportError):
        while data := await reader.read(CHUNK_BYTES):
            await stream.write(data)


async def _down(stream: Stream, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError, TransportError):
        async for data in stream:
            writer.write(data)
            await writer.drain()


def _with_stderr(failed: SourceUnavailable, stream: Stream) -> SourceUnavailable:
    """The same, with what the bridge itself said."""
    said = printable(decoded(stream.stderr).strip().replace("\n", " · "))
    return SourceUnavailable(failed.host, failed.source, f"{failed.reason} ({said})" if said else failed.reason)
