"""HTTP to a service, through the connection to its host: loopback-only servers and firewalls are no obstacle."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import httpcore
import httpx

from dflashtui.errors import TransportError

if TYPE_CHECKING:
    import asyncio
    import ssl
    from collections.abc import AsyncIterator, Iterable, Iterator

    from dflashtui.transport.base import Transport


@contextmanager
def _mapped() -> Iterator[None]:
    """Failures of httpcore as httpx's, which callers know."""
    try:
        yield
    except (httpcore.NetworkError, httpcore.ProtocolError, httpcore.TimeoutException) as failed:
        raise httpx.TransportError(str(failed) or type(failed).__name__) from failed


class _Stream(httpcore.AsyncNetworkStream):
    """A TCP connection that the host made."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ARG002, ASYNC109 - httpcore's signature
        return await self._reader.read(max_bytes)

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ARG002, ASYNC109 - httpcore's signature
        self._writer.write(buffer)
        await self._writer.drain()

    async def aclose(self) -> None:
        self._writer.close()

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,  # noqa: ARG002 - httpcore's signature
        server_hostname: str | None = None,  # noqa: ARG002
        timeout: float | None = None,  # noqa: ARG002, ASYNC109
    ) -> httpcore.AsyncNetworkStream:
        raise httpcore.ConnectError('https is not asked through the host; use via = "console"')


class _Backend(httpcore.AsyncNetworkBackend):
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ARG002, ASYNC109 - httpcore's signature
        local_address: str | None = None,  # noqa: ARG002
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,  # noqa: ARG002
    ) -> httpcore.AsyncNetworkStream:
        try:
            return _Stream(*await self._transport.open_tcp(host, port))
        except (OSError, TransportError) as refused:
            raise httpcore.ConnectError(str(refused)) from refused


class _Body(httpx.AsyncByteStream):
    def __init__(self, response: httpcore.Response) -> None:
        self._response = response

    async def __aiter__(self) -> AsyncIterator[bytes]:
        with _mapped():
            async for chunk in self._response.aiter_stream():
                yield chunk

    async def aclose(self) -> None:
        await self._response.aclose()


class ThroughHost(httpx.AsyncBaseTransport):
    """An httpx transport whose connections are made by the host itself (direct-tcpip)."""

    def __init__(self, transport: Transport) -> None:
        self._pool = httpcore.AsyncConnectionPool(network_backend=_Backend(transport), max_keepalive_connections=0)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send one request. Raises `httpx.TransportError`."""
        asked = httpcore.Request(
            method=request.method,
            url=httpcore.URL(
                scheme=request.url.raw_scheme,
                host=request.url.raw_host,
                port=request.url.port,
                target=request.url.raw_path,
            ),
            headers=request.headers.raw,
            content=request.stream,
            extensions=request.extensions,
        )
        with _mapped():
            answer = await self._pool.handle_async_request(asked)
        return httpx.Response(answer.status, headers=answer.headers, stream=_Body(answer), extensions=answer.extensions)

    async def aclose(self) -> None:
        """Close every connection."""
        await self._pool.aclose()
