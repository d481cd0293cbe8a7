"""What a running command says and how it ends: the part that local processes and SSH channels share."""

from __future__ import annotations

import asyncio
import signal
from collections import deque
from contextlib import aclosing
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Callable

    from dflashtui.errors import DflashError

UNREAD_LIMIT_BYTES = 2**20
STDERR_KEPT_BYTES = 64 * 2**10
STREAM_STDERR_BYTES = 4 * 2**10


class Pipes:
    """Both ends of a command: stdout waits to be read (and its sender, when much waits); the tail of stderr is kept.

    Used as the protocol object of asyncio and asyncssh, which call `pause_writing` and `resume_writing`.
    """

    def __init__(self) -> None:
        self.exit_status: int | None = None
        """`None` while it runs, and for ever if the link was lost."""
        self.exit_signal: str | None = None
        self.is_over = False
        """Nothing more will come."""
        self.failure: DflashError | None = None
        """Why it ended, if not by itself."""
        self.stderr = bytearray()
        self._chunks: deque[bytes] = deque()
        self._unread_bytes = 0
        self._is_paused = False
        self._is_discarding = False
        self._news = asyncio.Event()
        self._over = asyncio.Event()
        self._may_write = asyncio.Event()
        self._may_write.set()

    def pause_reading(self) -> None:
        """Ask the sender of stdout to wait."""

    def resume_reading(self) -> None:
        """Ask the sender of stdout to go on."""

    def stdout_received(self, data: bytes) -> None:
        """Some of stdout."""
        if not data or self._is_discarding:
            return
        self._chunks.append(data)
        self._unread_bytes += len(data)
        self._news.set()
        if self._unread_bytes > UNREAD_LIMIT_BYTES and not self._is_paused:
            self._is_paused = True
            self.pause_reading()

    def stderr_received(self, data: bytes) -> None:
        """Some of stderr."""
        self.stderr += data
        del self.stderr[:-STDERR_KEPT_BYTES]

    def exited(self, exit_status: int, exit_signal: str | None = None) -> None:
        """The command itself ended; output may still come."""
        self.exit_status, self.exit_signal = exit_status, exit_signal

    def ended(self, failure: DflashError | None = None) -> None:
        """Nothing more will come."""
        self.failure = self.failure or failure
        self.is_over = True
        self._news.set()
        self._over.set()
        self._may_write.set()

    def pause_writing(self) -> None:
        """The other side is full."""
        self._may_write.clear()

    def resume_writing(self) -> None:
        """The other side takes more."""
        self._may_write.set()

    def discard(self) -> None:
        """Nobody reads any more: what waits and what comes is dropped, so that the end is not held up."""
        self._is_discarding = True
        self._chunks.clear()
        if self._is_paused:
            self._is_paused = False
            self.resume_reading()

    async def writable(self) -> None:
        """Wait while the other side is full. Returns at the end of the command, too."""
        await self._may_write.wait()

    async def over(self) -> None:
        """Wait for the end."""
        await self._over.wait()

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        """Stdout in chunks of any size, until the end. Raises `failure`."""
        while True:
            while self._chunks:
                yield self._taken()
            if self.is_over:
                break
            self._news.clear()
            await self._news.wait()
        if self.failure is not None:
            raise self.failure

    def _taken(self) -> bytes:
        chunk = self._chunks.popleft()
        self._unread_bytes -= len(chunk)
        if self._is_paused and self._unread_bytes <= UNREAD_LIMIT_BYTES // 2:
            self._is_paused = False
            self.resume_reading()
        return chunk


class PipeStream:
    """A `Stream` of base.py over pipes."""

    def __init__(self, pipes: Pipes, write: Callable[[bytes], None], write_eof: Callable[[], None]) -> None:
        self._pipes = pipes
        self._write = write
        self._write_eof = write_eof

    def __aiter__(self) -> AsyncIterator[bytes]:
        """Stdout in chunks of any size."""
        return self._pipes.chunks()

    async def write(self, data: bytes) -> None:
        """Send to stdin, waiting while the other side is full. What an ended command would not read is dropped."""
        if self._pipes.failure is not None:
            raise self._pipes.failure
        if not self._pipes.is_over:
            self._write(data)
        await self._pipes.writable()

    async def write_eof(self) -> None:
        """Close stdin."""
        if not self._pipes.is_over:
            self._write_eof()

    @property
    def exit_status(self) -> int | None:
        """`None` while it runs."""
        return self._pipes.exit_status

    @property
    def stderr(self) -> bytes:
        """The last 4 KiB of stderr so far."""
        return bytes(self._pipes.stderr[-STREAM_STDERR_BYTES:])


async def collected(pipes: Pipes, limit_bytes: int) -> tuple[bytes, bool]:
    """All of stdout, and whether it was cut at `limit_bytes`. Raises the pipes' failure."""
    output = bytearray()
    async with aclosing(pipes.chunks()) as chunks:
        async for chunk in chunks:
            output += chunk
            if len(output) > limit_bytes:
                return bytes(output[:limit_bytes]), True
    return bytes(output), False


def status_of_signal(name: str) -> int:
    """`KILL` gives 137, as shells count; a signal unknown here counts as 128."""
    try:
        return 128 + signal.Signals[f"SIG{name}"].value
    except KeyError:
        return 128
