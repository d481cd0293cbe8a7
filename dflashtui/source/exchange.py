"""One HTTP exchange whose times are taken at the connection itself: what lies above it adds nothing to them."""

from __future__ import annotations

import asyncio
import ssl
from contextlib import asynccontextmanager, suppress
from time import monotonic
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, urlsplit

import h11

from dflashtui.errors import DflashError

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping

    Ends = tuple[asyncio.StreamReader, asyncio.StreamWriter]
    Dial = Callable[[str, int], Awaitable[Ends]]

READ_BYTES = 64 * 1024
WHOLE_LIMIT_BYTES = 4 * 2**20
CLOSE_SECONDS = 1.0
HTTP = b"HTTP/"
PORTS = {"http": 80, "https": 443}


class NoConnection(Exception):
    """Nobody could be reached at that address."""


class NotHttp(Exception):
    """What came back is not HTTP."""


class Cut(Exception):
    """The connection ended before the answer did."""


class Exchange:
    """One answer: its head, then its body in pieces with the time of their arrival."""

    def __init__(self, reader: asyncio.StreamReader, connection: h11.Connection, sent_seconds: float) -> None:
        self.sent_seconds = sent_seconds
        """By the monotonic clock: the whole request was handed to the connection."""
        self.status = 0
        self.headers: dict[str, str] = {}
        self.arrived_seconds = sent_seconds
        """When the newest bytes came."""
        self._reader, self._connection = reader, connection
        self._has_spoken = False

    async def begin(self) -> None:
        """Read the head. Raises `NotHttp` or `Cut`."""
        while True:
            found = await self._next()
            if isinstance(found, h11.Response):
                self.status = found.status_code
                self.headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in found.headers}
                return
            if isinstance(found, (h11.EndOfMessage, h11.ConnectionClosed)):
                raise Cut("it closed the connection without an answer")

    async def chunks(self) -> AsyncGenerator[tuple[float, bytes]]:
        """Pieces of the body as they arrive. Raises `NotHttp` or `Cut`."""
        while True:
            found = await self._next()
            if isinstance(found, h11.Data):
                yield self.arrived_seconds, bytes(found.data)
            elif isinstance(found, (h11.EndOfMessage, h11.ConnectionClosed)):
                return

    async def body(self, limit_bytes: int = WHOLE_LIMIT_BYTES) -> bytes:
        """All of it, or as much as `limit_bytes`."""
        found = b""
        async for _, chunk in self.chunks():
            found += chunk
            if len(found) >= limit_bytes:
                break
        return found[:limit_bytes]

    async def _next(self) -> h11.Event | type[h11.PAUSED]:
        try:
            while (found := self._connection.next_event()) is h11.NEED_DATA:
                data = await self._reader.read(READ_BYTES)
                self.arrived_seconds = monotonic()
                self._check_first(data)
                self._connection.receive_data(data)
        except h11.RemoteProtocolError as wrong:
            raise _meaning(wrong) from wrong
        except (OSError, EOFError, DflashError) as lost:
            raise Cut(str(lost) or type(lost).__name__) from lost
        return found  # type: ignore[return-value] # NEED_DATA has left the loop

    def _check_first(self, data: bytes) -> None:
        """A server of another protocol may speak first and never end a line as HTTP does."""
        if data and not self._has_spoken and not data.startswith(HTTP[: len(data)]):
            raise NotHttp(f"what answers there does not speak HTTP: {data[:40]!r}")
        self._has_spoken = True


def _meaning(wrong: h11.RemoteProtocolError) -> Cut | NotHttp:
    """An end where more was promised, or words that are no HTTP."""
    words = str(wrong)
    if "closed connection" in words:
        return Cut("the connection ended in the middle of the answer")
    return NotHttp(words)


@asynccontextmanager
async def exchange(
    dial: Dial, url: str, *, body: bytes | None = None, headers: Mapping[str, str] | None = None
) -> AsyncIterator[Exchange]:
    """Send one request (POST where there is a body) and read the head of its answer; leaving ends the connection.

    Raises `NoConnection`, `NotHttp`, `Cut`. Time limits are the caller's.
    """
    parts = urlsplit(url)
    reader, writer = await _dialled(dial, parts)
    try:
        connection = h11.Connection(h11.CLIENT)
        request = _request(connection, parts, body, headers or {})
        try:
            writer.write(request)
            await writer.drain()
        except (OSError, DflashError) as lost:
            raise Cut(str(lost)) from lost
        found = Exchange(reader, connection, monotonic())
        await found.begin()
        yield found
    finally:
        writer.close()
        with suppress(OSError, DflashError, TimeoutError):
            async with asyncio.timeout(CLOSE_SECONDS):
                await writer.wait_closed()


async def _dialled(dial: Dial, parts: SplitResult) -> Ends:
    try:
        return await dial(parts.hostname or "", parts.port or PORTS.get(parts.scheme, 80))
    except (OSError, DflashError, ValueError) as refused:
        raise NoConnection(str(refused)) from refused


async def dial_directly(address: str, port: int) -> Ends:
    """From this machine."""
    return await asyncio.open_connection(address, port)


async def dial_tls(address: str, port: int) -> Ends:
    """From this machine, with a verified certificate."""
    return await asyncio.open_connection(address, port, ssl=ssl.create_default_context())


def _request(connection: h11.Connection, parts: SplitResult, body: bytes | None, headers: Mapping[str, str]) -> bytes:
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    head = {"Host": parts.netloc.rpartition("@")[2], "Accept": "*/*", "Connection": "close", **headers}
    if body is not None:
        head |= {"Content-Type": "application/json", "Content-Length": str(len(body))}
    asked = h11.Request(method="GET" if body is None else "POST", target=target, headers=list(head.items()))
    sent = connection.send(asked) or b""
    if body is not None:
        sent += connection.send(h11.Data(data=body)) or b""
    return sent + (connection.send(h11.EndOfMessage()) or b"")
