"""A transport whose host is a script: programs by argv, sockets, ports, files, and a link that can be cut."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Never

from dflashtui.errors import CommandFailed, SourceUnavailable, TransportLost
from dflashtui.transport.base import OUTPUT_LIMIT_BYTES, Completed, Stream
from dflashtui.transport.pipes import Pipes, PipeStream, collected, status_of_signal

Program = Callable[["FakeProcess"], Awaitable[int | str]]
"""Talks through its process; gives the exit status, or the name of the signal that killed it."""

NOT_FOUND = 127


class FakeProcess(Pipes):
    """The program's side of a running command."""

    def __init__(self, argv: tuple[str, ...]) -> None:
        super().__init__()
        self.argv = argv
        self._stdin: asyncio.Queue[bytes] = asyncio.Queue()
        self._is_eof = False
        self._may_go_on = asyncio.Event()
        self._may_go_on.set()

    async def out(self, data: bytes) -> None:
        """Print to stdout, waiting while nobody reads."""
        await self._may_go_on.wait()
        self.stdout_received(data)

    def err(self, data: bytes) -> None:
        """Print to stderr."""
        self.stderr_received(data)

    async def read(self) -> bytes:
        """Some of stdin; `b""` at its end."""
        if self._is_eof:
            return b""
        data = await self._stdin.get()
        self._is_eof = not data
        return data

    async def read_all(self) -> bytes:
        """All of stdin."""
        found = bytearray()
        while data := await self.read():
            found += data
        return bytes(found)

    def send(self, data: bytes) -> None:
        if data:
            self._stdin.put_nowait(data)

    def send_eof(self) -> None:
        self._stdin.put_nowait(b"")

    def pause_reading(self) -> None:
        self._may_go_on.clear()

    def resume_reading(self) -> None:
        self._may_go_on.set()


@dataclass(frozen=True, slots=True)
class Answer:
    """A program that says the same each time."""

    stdout: bytes = b""
    stderr: bytes = b""
    exit_status: int = 0

    async def __call__(self, process: FakeProcess) -> int:
        await process.read_all()
        await process.out(self.stdout)
        process.err(self.stderr)
        return self.exit_status


class FakeTransport:
    """A host made of `programs`, the longest matching beginning of argv wins; others are `not found`, as on a host."""

    def __init__(self, host: str = "fake") -> None:
        self.host = host
        self.channels = 0
        self.programs: dict[tuple[str, ...], Program] = {}
        self.asked: list[tuple[str, ...]] = []
        """Every argv, in order."""
        self.files: dict[PurePosixPath, tuple[bytes, int]] = {}
        """What was put: bytes and mode."""
        self.full_folders: set[PurePosixPath] = set()
        """Where nothing can be put."""
        self.sockets: dict[str, Path] = {}
        """The host's sockets, and where they really are."""
        self.ports: dict[tuple[str, int], tuple[str, int]] = {}
        """The host's ports, and where they really are."""
        self._loss: TransportLost | None = None
        self._is_lost = asyncio.Event()
        self._running: set[FakeProcess] = set()

    def answer(self, *argv: str, stdout: bytes = b"", stderr: bytes = b"", exit_status: int = 0) -> None:
        """Commands that begin with `argv` say this."""
        self.programs[argv] = Answer(stdout, stderr, exit_status)

    def lose(self, reason: str = "cut by the test") -> None:
        """End the link: whatever runs has an unknown outcome."""
        self._loss = TransportLost(self.host, reason)
        self._is_lost.set()
        for process in self._running:
            process.ended(self._loss)

    async def run(
        self, argv: Sequence[str], *, stdin: bytes = b"", output_limit_bytes: int = OUTPUT_LIMIT_BYTES
    ) -> Completed:
        async with self._started(argv) as process:
            process.send(stdin)
            process.send_eof()
            stdout, truncated = b"", False
            with suppress(TransportLost):
                stdout, truncated = await collected(process, output_limit_bytes)
            status, signal = process.exit_status, process.exit_signal
        if truncated:
            status, signal = status_of_signal("TERM"), "TERM"
        return Completed(self.host, tuple(argv), status, stdout, bytes(process.stderr), signal, truncated=truncated)

    @asynccontextmanager
    async def stream(self, argv: Sequence[str]) -> AsyncIterator[Stream]:
        async with self._started(argv) as process:
            yield PipeStream(process, process.send, process.send_eof)

    @asynccontextmanager
    async def _started(self, argv: Sequence[str]) -> AsyncIterator[FakeProcess]:
        self._check_link()
        process = FakeProcess(tuple(argv))
        self.asked.append(process.argv)
        self._running.add(process)
        self.channels += 1
        task = asyncio.create_task(self._play(process))
        try:
            yield process
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            self._running.discard(process)
            self.channels -= 1

    async def _play(self, process: FakeProcess) -> None:
        ended = await self._program(process.argv)(process)
        if isinstance(ended, str):
            process.exited(status_of_signal(ended), ended)
        else:
            process.exited(ended)
        process.ended()

    def _program(self, argv: tuple[str, ...]) -> Program:
        matching = [known for known in self.programs if argv[: len(known)] == known]
        if not matching:
            return Answer(stderr=f"{argv[0]}: not found\n".encode(), exit_status=NOT_FOUND)
        return self.programs[max(matching, key=len)]

    async def put(self, data: bytes, path: PurePosixPath, *, mode: int) -> None:
        self._check_link()
        if path.parent in self.full_folders:
            raise CommandFailed(self.host, ("put", str(path)), 1, f"{path}: No space left on device")
        self.files[path] = data, mode

    @asynccontextmanager
    async def local_socket(self, path: str) -> AsyncIterator[Path]:
        self._check_link()
        if path not in self.sockets:
            raise SourceUnavailable(self.host, path, "No such file or directory")
        yield self.sockets[path]

    async def open_tcp(self, address: str, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        self._check_link()
        if (address, port) not in self.ports:
            raise ConnectionRefusedError(f"{self.host}: {address}:{port}: Connection refused")
        return await asyncio.open_connection(*self.ports[address, port])

    async def lost(self) -> Never:
        await self._is_lost.wait()
        self._check_link()
        raise AssertionError("the link is there")

    def _check_link(self) -> None:
        if self._loss is not None:
            raise TransportLost(self.host, self._loss.reason) from self._loss
