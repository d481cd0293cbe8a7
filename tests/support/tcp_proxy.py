"""A TCP proxy on loopback: cuts after exactly so many bytes, delays, dribbles, black holes, half-open connections."""

import asyncio
import fcntl
import socket
import struct
import termios
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

CHUNK_BYTES = 65536
WINDOW_CHUNKS = 8
"""How many pieces of a delayed path are on their way at once."""
SETTLED_SECONDS = 1.0


class Way:
    """One direction of all connections."""

    def __init__(self) -> None:
        self.passed_bytes = 0
        self.cut_after_bytes: int | None = None
        """Exactly so many bytes arrive this way, then every connection is reset."""
        self.is_hole = False
        """Everything is taken and lost."""


class TcpProxy:
    """Passes bytes on to a port of an address, as badly as it is told to."""

    def __init__(self, target_port: int, target_address: str = "127.0.0.1") -> None:
        self.target_port = target_port
        self.target_address = target_address
        self.there, self.back = Way(), Way()
        """To the target, and from it."""
        self.passed_bytes = 0
        """To and fro."""
        self.cut_after_bytes: int | None = None
        """As `Way.cut_after_bytes`, both directions counted together."""
        self.delay_seconds = 0.0
        """How long each byte is on its way; it holds up none behind it."""
        self.bytes_per_second: float | None = None
        """Of each direction of each connection."""
        self.most_bytes = CHUNK_BYTES
        """Of a piece: 1 dribbles."""
        self.port = 0
        self.connections = 0
        self._may_pass = asyncio.Event()
        self._may_pass.set()
        self._writers: set[asyncio.StreamWriter] = set()
        self._far_writers: set[asyncio.StreamWriter] = set()
        self._serving: set[asyncio.Task[None]] = set()

    def freeze(self) -> None:
        """Like a path that has died: everything is taken, nothing arrives until `thaw`."""
        self._may_pass.clear()

    def thaw(self) -> None:
        """The path is there again."""
        self._may_pass.set()

    def swallow(self) -> None:
        """A black hole, both ways: what is sent from now on never arrives."""
        self.there.is_hole = self.back.is_hole = True

    def cut(self) -> None:
        """Reset every connection."""
        for writer in tuple(self._writers):
            _reset(writer)

    def half_open(self) -> None:
        """The target's side is gone, as after a power failure; the near side is told nothing, and believes on."""
        self.swallow()
        for writer in tuple(self._far_writers):
            _reset(writer)

    async def end(self) -> None:
        """Leave nothing of it."""
        self.there.is_hole = self.back.is_hole = False
        self.thaw()
        self.cut()
        if self._serving:
            await asyncio.wait(self._serving, timeout=self.delay_seconds + SETTLED_SECONDS)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection."""
        self.connections += 1
        serving = asyncio.current_task()
        assert serving is not None
        self._serving.add(serving)
        serving.add_done_callback(self._serving.discard)
        try:
            far_reader, far_writer = await asyncio.open_connection(self.target_address, self.target_port)
        except OSError:
            _reset(writer)
            return
        pair = {writer, far_writer}
        self._writers |= pair
        self._far_writers.add(far_writer)
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._pass(reader, far_writer, self.there))
                group.create_task(self._pass(far_reader, writer, self.back))
        finally:
            self._writers -= pair
            self._far_writers.discard(far_writer)
            for one in pair:
                one.close()

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, way: Way) -> None:
        pieces: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue(WINDOW_CHUNKS)
        async with asyncio.TaskGroup() as group:
            group.create_task(self._take(reader, pieces))
            group.create_task(self._give(pieces, writer, way))

    async def _take(self, reader: asyncio.StreamReader, pieces: asyncio.Queue[tuple[float, bytes]]) -> None:
        """Each piece with the time at which it is due; an empty one ends."""
        data = None
        while data != b"":
            try:
                data = await reader.read(CHUNK_BYTES)
            except OSError:
                data = b""
            await pieces.put((asyncio.get_running_loop().time() + self.delay_seconds, data))

    async def _give(self, pieces: asyncio.Queue[tuple[float, bytes]], writer: asyncio.StreamWriter, way: Way) -> None:
        while True:
            due, data = await pieces.get()
            await asyncio.sleep(due - asyncio.get_running_loop().time())
            await self._may_pass.wait()
            if not way.is_hole:
                await self._write(data, writer, way)
            if not data:
                return

    async def _write(self, data: bytes, writer: asyncio.StreamWriter, way: Way) -> None:
        """The part that may pass; then, where the limit is, the cut. Nothing: the end."""
        if not data:
            writer.close()
            return
        allowed = self._allowed(len(data), way)
        self.passed_bytes += allowed
        way.passed_bytes += allowed
        is_last = allowed < len(data) or self._is_reached(way)
        with suppress(OSError):
            for start in range(0, allowed, self.most_bytes):
                piece = data[start : min(start + self.most_bytes, allowed)]
                writer.write(piece)
                await writer.drain()
                if self.bytes_per_second is not None:
                    await asyncio.sleep(len(piece) / self.bytes_per_second)
        if is_last:
            await _arrived(writer)
            self.cut()

    def _allowed(self, size: int, way: Way) -> int:
        return max(0, min((size, *self._rooms(way))))

    def _is_reached(self, way: Way) -> bool:
        return any(room <= 0 for room in self._rooms(way))

    def _rooms(self, way: Way) -> list[int]:
        """How many bytes may pass yet, by each limit."""
        limits = ((way.cut_after_bytes, way.passed_bytes), (self.cut_after_bytes, self.passed_bytes))
        return [limit - passed for limit, passed in limits if limit is not None]


def _reset(writer: asyncio.StreamWriter) -> None:
    """RST instead of FIN; what has not left the process yet is thrown away."""
    sock = writer.get_extra_info("socket")
    with suppress(OSError):
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


async def _arrived(writer: asyncio.StreamWriter) -> None:
    """Wait until the other end's kernel has all that was written: a reset would overtake it."""
    deadline = asyncio.get_running_loop().time() + SETTLED_SECONDS
    while _on_its_way(writer) and asyncio.get_running_loop().time() < deadline:  # noqa: ASYNC110 - the kernel sets no event
        await asyncio.sleep(0.001)


def _on_its_way(writer: asyncio.StreamWriter) -> int:
    """Bytes that are in this process or not acknowledged: SIOCOUTQ of tcp(7)."""
    sock = writer.get_extra_info("socket")
    if writer.is_closing() or sock.fileno() < 0:
        return 0
    waiting = writer.transport.get_write_buffer_size()
    return waiting + int(struct.unpack("i", fcntl.ioctl(sock.fileno(), termios.TIOCOUTQ, bytes(4)))[0])


@asynccontextmanager
async def tcp_proxy(target_port: int, target_address: str = "127.0.0.1") -> AsyncIterator[TcpProxy]:
    """The proxy, listening at `port`."""
    proxy = TcpProxy(target_port, target_address)
    server = await asyncio.start_server(proxy.serve, "127.0.0.1", 0)
    proxy.port = server.sockets[0].getsockname()[1]
    async with server:
        yield proxy
        await proxy.end()
