"""A TCP proxy on loopback whose connections can be cut, at once or after a number of bytes, or frozen."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress


class TcpProxy:
    """Passes bytes on to a port of an address, while it is not frozen."""

    def __init__(self, target_port: int, target_address: str = "127.0.0.1") -> None:
        self.target_port = target_port
        self.target_address = target_address
        self.passed_bytes = 0
        """To and fro."""
        self.cut_after_bytes: int | None = None
        """Reset every connection once so many bytes have passed."""
        self.port = 0
        self.connections = 0
        self._may_pass = asyncio.Event()
        self._may_pass.set()
        self._writers: set[asyncio.StreamWriter] = set()

    def freeze(self) -> None:
        """Like a path that has died: everything is taken, nothing arrives."""
        self._may_pass.clear()

    def thaw(self) -> None:
        """The path is there again."""
        self._may_pass.set()

    def cut(self) -> None:
        """Reset every connection."""
        for writer in self._writers:
            writer.transport.abort()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection."""
        self.connections += 1
        there_reader, there_writer = await asyncio.open_connection(self.target_address, self.target_port)
        self._writers |= {writer, there_writer}
        with suppress(OSError):
            async with asyncio.TaskGroup() as group:
                group.create_task(self._pass(reader, there_writer))
                group.create_task(self._pass(there_reader, writer))

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await reader.read(65536):
                await self._may_pass.wait()
                if self._is_enough(len(data)):
                    self.cut()
                    return
                writer.write(data)
                await writer.drain()
        writer.close()

    def _is_enough(self, more: int) -> bool:
        self.passed_bytes += more
        return self.cut_after_bytes is not None and self.passed_bytes > self.cut_after_bytes


@asynccontextmanager
async def tcp_proxy(target_port: int, target_address: str = "127.0.0.1") -> AsyncIterator[TcpProxy]:
    """The proxy, listening at `port`."""
    proxy = TcpProxy(target_port, target_address)
    server = await asyncio.start_server(proxy.serve, "127.0.0.1", 0)
    proxy.port = server.sockets[0].getsockname()[1]
    async with server:
        yield proxy
        proxy.thaw()
        proxy.cut()
