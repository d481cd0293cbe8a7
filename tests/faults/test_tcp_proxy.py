"""The proxy that cuts, delays and swallows is exact: else the tests that lean on it prove nothing."""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from tests.support.tcp_proxy import TcpProxy, tcp_proxy
from tests.support.until import until

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

SENT = bytes(range(256)) * 40


class Far:
    """A server that keeps what it hears and how it ended, and says it all again."""

    def __init__(self) -> None:
        self.heard = bytearray()
        self.ends: list[str] = []
        self.port = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while data := await reader.read(65536):
                self.heard += data
                writer.write(data)
            self.ends.append("closed")
        except ConnectionResetError:
            self.ends.append("reset")
        writer.close()


@pytest.fixture
async def far() -> AsyncIterator[Far]:
    far = Far()
    server = await asyncio.start_server(far.serve, "127.0.0.1", 0)
    async with server:
        far.port = server.sockets[0].getsockname()[1]
        yield far


@pytest.fixture
async def proxy(far: Far) -> AsyncIterator[TcpProxy]:
    async with tcp_proxy(far.port) as proxy:
        yield proxy


async def near(proxy: TcpProxy) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    return await asyncio.open_connection("127.0.0.1", proxy.port)


async def answered(reader: asyncio.StreamReader) -> bytes:
    """All until the connection ends, however."""
    got = bytearray()
    with suppress(ConnectionResetError):
        while data := await reader.read(65536):
            got += data
    return bytes(got)


@pytest.mark.parametrize("count", [0, 1, 255, 4096, 10_239])
async def test_exactly_so_many_bytes_arrive(far: Far, proxy: TcpProxy, count: int) -> None:
    proxy.there.cut_after_bytes = count
    reader, writer = await near(proxy)
    writer.write(SENT)
    await answered(reader)
    await until(lambda: far.ends)
    assert bytes(far.heard) == SENT[:count]
    assert far.ends == ["reset"]
    writer.close()


@pytest.mark.parametrize("count", [0, 1, 7000])
async def test_exactly_so_many_bytes_come_back(proxy: TcpProxy, count: int) -> None:
    proxy.back.cut_after_bytes = count
    reader, writer = await near(proxy)
    writer.write(SENT)
    assert await answered(reader) == SENT[:count]
    writer.close()


async def test_to_and_fro_are_counted_together(far: Far, proxy: TcpProxy) -> None:
    proxy.cut_after_bytes = 300
    reader, writer = await near(proxy)
    writer.write(SENT[:200])
    assert await answered(reader) == SENT[:100]
    assert (bytes(far.heard), proxy.passed_bytes) == (SENT[:200], 300)
    writer.close()


async def test_a_half_open_connection_is_gone_there_and_silent_here(far: Far, proxy: TcpProxy) -> None:
    reader, writer = await near(proxy)
    writer.write(b"x")
    await reader.readexactly(1)
    proxy.half_open()
    await until(lambda: far.ends)
    writer.write(b"y" * 10)
    await writer.drain()
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(reader.read(1), 0.05)
    assert (far.ends, bytes(far.heard)) == (["reset"], b"x")
    writer.close()


async def test_a_black_hole_takes_and_gives_nothing(far: Far, proxy: TcpProxy) -> None:
    reader, writer = await near(proxy)
    writer.write(b"x")
    await reader.readexactly(1)
    proxy.swallow()
    writer.write(SENT)
    await writer.drain()
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(reader.read(1), 0.05)
    assert (far.ends, bytes(far.heard)) == ([], b"x")
    writer.close()


async def test_a_slow_far_path_is_late_and_loses_nothing(far: Far, proxy: TcpProxy) -> None:
    proxy.delay_seconds, proxy.most_bytes, proxy.bytes_per_second = 0.05, 1, 20_000
    reader, writer = await near(proxy)
    began = time.monotonic()
    writer.write(SENT[:100])
    assert await reader.readexactly(100) == SENT[:100]
    assert 0.1 <= time.monotonic() - began < 2
    assert bytes(far.heard) == SENT[:100]
    writer.close()
