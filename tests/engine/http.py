"""The least of HTTP/1.1 that a server needs: one request a connection."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import asyncio

WORDS = {200: "OK", 400: "Bad Request", 401: "Unauthorized", 404: "Not Found", 429: "Too Many Requests"}
BODY_LIMIT = 2**20


@dataclass
class Request:
    """One request, read whole."""

    method: str
    path: str
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""

    @property
    def json(self) -> dict[str, Any]:
        """Raises `ValueError`."""
        found = json.loads(self.body or b"{}")
        if not isinstance(found, dict):
            raise ValueError("an object is meant")  # noqa: TRY004 - as what is no JSON at all
        return found


async def read_request(reader: asyncio.StreamReader) -> Request:
    """Raises `ValueError` or `asyncio.IncompleteReadError`."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    method, target, _ = head[0].split(" ", 2)
    pairs = (line.partition(":") for line in head[1:] if line)
    headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
    length = int(headers.get("content-length", "0"))
    if length > BODY_LIMIT:
        raise ValueError("too large")
    return Request(method, target.partition("?")[0], headers, await reader.readexactly(length))


class Reply:
    """One answer: whole, or as a stream of chunks."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer

    async def send(self, status: int, body: bytes | str, kind: str = "application/json") -> None:
        data = body.encode() if isinstance(body, str) else body
        self._writer.write(_head(status, f"Content-Type: {kind}", f"Content-Length: {len(data)}") + data)
        await self._writer.drain()

    async def json(self, status: int, value: object) -> None:
        await self.send(status, json.dumps(value))

    async def begin(self) -> None:
        """A stream of events follows."""
        self._writer.write(_head(200, "Content-Type: text/event-stream", "Transfer-Encoding: chunked"))
        await self._writer.drain()

    async def chunk(self, data: bytes) -> None:
        self._writer.write(b"%x\r\n%s\r\n" % (len(data), data))
        await self._writer.drain()

    async def end(self) -> None:
        self._writer.write(b"0\r\n\r\n")
        await self._writer.drain()

    async def raw(self, data: bytes) -> None:
        """Whatever it is."""
        self._writer.write(data)
        await self._writer.drain()


def _head(status: int, *lines: str) -> bytes:
    first = f"HTTP/1.1 {status} {WORDS.get(status, 'Error')}"
    return "\r\n".join((first, *lines, "Connection: close", "", "")).encode()
