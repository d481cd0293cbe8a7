"""The machine that the console runs on, behind the same protocol as every host."""

from __future__ import annotations

import asyncio
import os
import signal
import tempfile
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Never

from dflashtui.errors import CommandFailed, SourceUnavailable
from dflashtui.transport.base import OUTPUT_LIMIT_BYTES, Completed
from dflashtui.transport.pipes import Pipes, PipeStream, collected, status_of_signal

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from pathlib import PurePosixPath

    from dflashtui.transport.base import Stream

ENDING_SECONDS = 0.5
"""How long a process may take to end after SIGTERM."""
NOT_FOUND, NOT_EXECUTABLE = 127, 126
"""Exit statuses of sh(1) for a program that cannot be started."""


class LocalTransport:
    """Child processes, plain files, the sockets themselves."""

    def __init__(self, host: str) -> None:
        """`host`: the name in the inventory."""
        self.host = host
        self.channels = 0

    async def run(
        self, argv: Sequence[str], *, stdin: bytes = b"", output_limit_bytes: int = OUTPUT_LIMIT_BYTES
    ) -> Completed:
        """Run a command to its end; one that cannot be started has status 127 or 126, as in a shell."""
        try:
            async with self._started(argv) as child:
                child.send(stdin)
                child.send_eof()
                stdout, truncated = await collected(child, output_limit_bytes)
                if not truncated:
                    return _completed(self.host, argv, child, stdout)
            return _completed(self.host, argv, child, stdout, truncated=True)
        except OSError as failure:
            return Completed(self.host, tuple(argv), _start_status(failure), b"", _why(failure, argv[0]))

    @asynccontextmanager
    async def stream(self, argv: Sequence[str]) -> AsyncIterator[Stream]:
        """Start a command and talk with it until the context is left."""
        async with AsyncExitStack() as stack:
            try:
                child = await stack.enter_async_context(self._started(argv))
                stream = PipeStream(child, child.send, child.send_eof)
            except OSError as failure:
                stream = _stillborn(failure, argv[0])
            yield stream

    @asynccontextmanager
    async def _started(self, argv: Sequence[str]) -> AsyncIterator[_Child]:
        _, child = await asyncio.get_running_loop().subprocess_exec(
            _Child, *argv, env={**os.environ, "LC_ALL": "C"}, start_new_session=True
        )
        self.channels += 1
        try:
            yield child
        finally:
            try:
                await child.end()
            finally:
                self.channels -= 1

    async def put(self, data: bytes, path: PurePosixPath, *, mode: int) -> None:
        """Write a whole file beside `path`, fsync it, and rename it over `path`."""
        try:
            await asyncio.to_thread(_replace, data, Path(path), mode)
        except OSError as failure:
            raise CommandFailed(self.host, ("put", str(path)), 1, f"{path}: {failure.strerror}") from failure

    @asynccontextmanager
    async def local_socket(self, path: str) -> AsyncIterator[Path]:
        """The socket itself."""
        try:
            _, writer = await asyncio.open_unix_connection(path)
        except OSError as failure:
            raise SourceUnavailable(self.host, path, failure.strerror or str(failure)) from failure
        writer.close()
        yield Path(path)

    async def open_tcp(self, address: str, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A TCP connection."""
        try:
            return await asyncio.open_connection(address, port)
        except ConnectionError:
            raise
        except OSError as failure:
            raise ConnectionError(failure.errno, failure.strerror or str(failure)) from failure

    async def lost(self) -> Never:
        """Never returns: this machine is always there."""
        await asyncio.Event().wait()
        raise AssertionError("nobody sets this event")


class _Child(Pipes, asyncio.SubprocessProtocol):
    """A process that leads its own session, so that its children end with it."""

    _transport: asyncio.SubprocessTransport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport  # type: ignore[assignment]  # asyncio promises it

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == 1:
            self.stdout_received(data)
        else:
            self.stderr_received(data)

    def process_exited(self) -> None:
        code = self._transport.get_returncode() or 0
        name = signal.Signals(-code).name.removeprefix("SIG") if code < 0 else None
        self.exited(status_of_signal(name) if name else code, name)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        """The process was reaped and its pipes are closed."""
        self.ended()

    def pause_reading(self) -> None:
        self._stdout().pause_reading()

    def resume_reading(self) -> None:
        self._stdout().resume_reading()

    def _stdout(self) -> asyncio.ReadTransport:
        return self._transport.get_pipe_transport(1)  # type: ignore[return-value]  # a pipe to read from

    def _stdin(self) -> asyncio.WriteTransport:
        return self._transport.get_pipe_transport(0)  # type: ignore[return-value]  # a pipe to write to

    def send(self, data: bytes) -> None:
        if data:
            self._stdin().write(data)

    def send_eof(self) -> None:
        self._stdin().close()

    async def end(self) -> None:
        """Leave no process of this session behind: SIGTERM, a short wait, SIGKILL."""
        self.discard()
        try:
            await self._ended_by(signal.SIGTERM)
        finally:
            try:
                await self._ended_by(signal.SIGKILL)
            finally:
                self._transport.close()

    async def _ended_by(self, number: signal.Signals) -> None:
        if self.is_over:
            return
        with suppress(ProcessLookupError):
            os.killpg(self._transport.get_pid(), number)
        with suppress(TimeoutError):
            async with asyncio.timeout(ENDING_SECONDS):
                await self.over()


def _completed(host: str, argv: Sequence[str], child: _Child, stdout: bytes, *, truncated: bool = False) -> Completed:
    return Completed(
        host, tuple(argv), child.exit_status, stdout, bytes(child.stderr), child.exit_signal, truncated=truncated
    )


def _start_status(failure: OSError) -> int:
    return NOT_FOUND if isinstance(failure, FileNotFoundError) else NOT_EXECUTABLE


def _why(failure: OSError, program: str) -> bytes:
    return f"{program}: {failure.strerror}\n".encode()


def _stillborn(failure: OSError, program: str) -> PipeStream:
    """The stream of a program that could not be started."""
    pipes = Pipes()
    pipes.stderr_received(_why(failure, program))
    pipes.exited(_start_status(failure))
    pipes.ended()
    return PipeStream(pipes, lambda _: None, lambda: None)


def _replace(data: bytes, path: Path, mode: int) -> None:
    """Whole or not at all, also when the power fails: the file is on disk before it gets its name."""
    descriptor, temporary = tempfile.mkstemp(prefix=f"{path.name}.dflash-", dir=path.parent)
    try:
        with open(descriptor, "wb") as file:  # noqa: PTH123 - a descriptor has no path
            file.write(data)
            file.flush()
            os.fchmod(file.fileno(), mode)
            os.fsync(file.fileno())
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
