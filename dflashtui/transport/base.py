"""What a way to a host can do. Bytes everywhere, argv lists everywhere, time limits are the caller's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Never, Protocol, Self

from dflashtui.errors import CommandFailed, TransportLost
from dflashtui.mask import masked
from dflashtui.text import decoded, printable

if TYPE_CHECKING:
    import asyncio
    from collections.abc import AsyncGenerator, AsyncIterator, Sequence
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path, PurePosixPath

OUTPUT_LIMIT_BYTES = 64 * 2**20
MOST_WORDS = 2000


@dataclass(frozen=True, slots=True)
class Completed:
    """A command that ended. `exit_status` is `None` when the link was lost: the outcome is unknown."""

    host: str
    argv: tuple[str, ...]
    exit_status: int | None
    stdout: bytes
    stderr: bytes
    exit_signal: str | None = None
    """`KILL`, `TERM`, … without `SIG`; then `exit_status` is 128 + its number."""
    truncated: bool = False
    """The output passed the limit; the rest was not read and the command was ended."""

    def check(self) -> Self:
        """Itself, if the command succeeded. Raises `CommandFailed` or `TransportLost`."""
        if self.exit_status is None:
            raise TransportLost(self.host, f"{self.argv[0]}: the connection ended before its result came")
        if self.exit_status != 0:
            words = masked(decoded(self.stderr)).strip()[-MOST_WORDS:]
            raise CommandFailed(self.host, self.argv, self.exit_status, printable(words))
        return self


class Stream(Protocol):
    """A running command with open pipes."""

    def __aiter__(self) -> AsyncIterator[bytes]:
        """Stdout in chunks of any size. Ends when the command ended; raises `TransportLost` when the link did."""

    async def write(self, data: bytes) -> None:
        """Send to stdin, waiting while the other side is full. Raises `TransportLost`."""

    async def write_eof(self) -> None:
        """Close stdin."""

    @property
    def exit_status(self) -> int | None:
        """`None` while it runs."""

    @property
    def stderr(self) -> bytes:
        """The last 4 KiB of stderr so far."""


class Transport(Protocol):
    """An established way to one host. Cancelling a call or leaving a context closes its channel, bounded in time."""

    @property
    def host(self) -> str:
        """The host's name in the inventory, for messages."""

    @property
    def channels(self) -> int:
        """Session channels open at this moment (sshd's `MaxSessions` counts them)."""

    async def run(
        self, argv: Sequence[str], *, stdin: bytes = b"", output_limit_bytes: int = OUTPUT_LIMIT_BYTES
    ) -> Completed:
        """Run a command to its end; one that fails is a value, see `Completed.check`.

        Raises `TransportLost` if it was not started; `exit_status` is `None` if the link ended while it ran.
        Raises `SourceUnavailable` where the login shell runs no commands, or sshd grants no session; `CommandTimeout`
        where the login shell hangs: the command may begin later on.
        """

    def stream(self, argv: Sequence[str]) -> AbstractAsyncContextManager[Stream]:
        """Start a command and talk with it until the context is left, which ends it.

        Raises as `run`; `SourceUnavailable` may come later, too, when sshd allows so few sessions that a short
        command needs this one's.
        """

    async def put(self, data: bytes, path: PurePosixPath, *, mode: int) -> None:
        """Write a whole file beside `path`, fsync it, and rename it over `path`.

        Raises `CommandFailed`, the old file untouched; `TransportLost` if nobody knows which text is there now.
        """

    def local_socket(self, path: str) -> AbstractAsyncContextManager[Path]:
        """A local path that reaches the host's unix socket `path`, in a private folder.

        Raises `SourceUnavailable` if the host forbids stream-local forwarding or has no such socket.
        """

    async def open_tcp(self, address: str, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A TCP connection made by the host itself. Raises `ConnectionError` or `SourceUnavailable`.

        The pair is asyncio's, or asyncssh's with the same methods (read, readline, write, drain, close, wait_closed).
        """

    async def lost(self) -> Never:
        """Wait until the link ends, and raise `TransportLost` with the reason. The local machine is never lost."""
        raise NotImplementedError


async def lines(stream: Stream, *, limit_bytes: int = 16 * 2**20) -> AsyncGenerator[bytes, None]:
    """Whole lines of a stream, without the newline; an unfinished last line is dropped.

    A line longer than `limit_bytes` is given cut, its rest is skipped.
    """
    kept = bytearray()
    skipping = False
    async for chunk in stream:
        first, *others = chunk.split(b"\n")
        for position, piece in enumerate((first, *others)):
            if position:
                if not skipping:
                    yield bytes(kept)
                kept.clear()
                skipping = False
            if not skipping:
                kept += piece
                if len(kept) > limit_bytes:
                    yield bytes(kept[:limit_bytes])
                    kept.clear()
                    skipping = True
