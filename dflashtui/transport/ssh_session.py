"""One command on one session channel."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

import asyncssh

from dflashtui.errors import CommandTimeout, SourceUnavailable, TransportLost
from dflashtui.text import decoded, printable
from dflashtui.transport.pipes import Pipes, status_of_signal

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from dflashtui.errors import DflashError
    from dflashtui.transport.ssh_command import StartMark

BEGIN_SECONDS = 15.0
"""From the granted session to the first word of our command: start files of a login shell take seconds at most."""
HUNG = "the login shell hangs, or what its start files read (a home folder that does not answer?)"


class Session(Pipes, asyncssh.SSHClientSession[bytes]):
    """A command on the host; its output begins at our mark."""

    def __init__(
        self,
        host: str,
        argv: Sequence[str],
        mark: StartMark,
        released: Callable[[Session], None],
        words: Callable[[Exception | None], str],
        *,
        is_followed: bool,
    ) -> None:
        """`released`: called when its channel is closed; `words`: how a lost connection is told."""
        super().__init__()
        self.is_followed = is_followed
        self.command = mark.command(argv)
        self._host, self._program = host, argv[0]
        self._released, self._words = released, words
        self._stdout, self._stderr = mark.on_stdout(), mark.on_stderr()
        self._channel: asyncssh.SSHClientChannel[bytes] | None = None
        self._closed = asyncio.Event()
        self._begun = asyncio.Event()

    @property
    def is_granted(self) -> bool:
        """Whether the host ever gave it a channel."""
        return self._channel is not None

    @property
    def process_id(self) -> str | None:
        """Of the command on the host; `None`: it has not begun."""
        return self._stdout.value.decode() if self._stdout.value.isdigit() else None

    def connection_made(self, chan: asyncssh.SSHClientChannel[bytes]) -> None:
        """The host granted a session."""
        self._channel = chan

    def data_received(self, data: bytes, datatype: int | None) -> None:
        """Output, from the mark on."""
        if datatype == asyncssh.EXTENDED_DATA_STDERR:
            self.stderr_received(self._stderr(data))
        else:
            self.stdout_received(self._stdout(data))
            if self._stdout.is_found:
                self._begun.set()

    def eof_received(self) -> bool:
        """Stdin stays open: the command may still read."""
        return True

    def exit_status_received(self, status: int) -> None:
        """It ended by itself."""
        self.exited(status)

    def exit_signal_received(self, signal: str, core_dumped: bool, msg: str, lang: str) -> None:  # noqa: ARG002, FBT001 - asyncssh's signature
        """It was killed."""
        self.exited(status_of_signal(signal), signal)

    def connection_lost(self, exc: Exception | None) -> None:
        """The channel is closed; without an exit status nobody knows how the command ended."""
        self._closed.set()
        self._begun.set()
        self._released(self)
        if self.exit_status is None:
            lost = TransportLost(self._host, f"{self._words(exc)}, while {self._program} ran")
            self.ended(lost if self.is_followed else None)
        elif self._stdout.is_found:
            self.ended()
        else:
            self.ended(SourceUnavailable(self._host, "login shell", self._shell_words()))

    def _shell_words(self) -> str:
        """The shell ended before our command began: `nologin`, `false`, a forced command, an error in a start file."""
        noise = printable(decoded(bytes(self._stdout.noise + self._stderr.noise)).strip(), limit=300)
        return f"runs no commands: exit {self.exit_status}, {f'says {noise!r}' if noise else 'without a word'}"

    def pause_reading(self) -> None:
        """Let the host wait."""
        if self._channel is not None:
            self._channel.pause_reading()

    def resume_reading(self) -> None:
        """Let the host go on."""
        if self._channel is not None:
            self._channel.resume_reading()

    def send(self, data: bytes) -> None:
        """To stdin."""
        if data and self._channel is not None and not self._channel.is_closing():
            self._channel.write(data)

    def send_eof(self) -> None:
        """Close stdin."""
        if self._channel is not None and not self._channel.is_closing():
            self._channel.write_eof()

    def terminate(self) -> None:
        """Ask sshd to signal the command; it does so for all but root."""
        if self._channel is not None and not self._channel.is_closing():
            self._channel.send_signal("TERM")

    def hang_up(self, failure: DflashError | None = None) -> None:
        """Close the channel at once; whoever reads gets `failure`."""
        if self._channel is not None:
            self._channel.abort()
        self.ended(failure)

    def require_begun(self) -> None:
        """For a command that should have begun long ago: where not, it is given up, and may begin yet."""
        if not self._begun.is_set():
            self.hang_up(
                CommandTimeout(self._host, f"{self._program} has not begun within {BEGIN_SECONDS:g} s: {HUNG}")
            )

    async def begun(self) -> None:
        """Wait until the command itself runs, or never will."""
        await self._begun.wait()

    async def ended_within(self, seconds: float) -> bool:
        """Whether it is over after at most that time."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self.over()
        return self.is_over

    async def closed_within(self, seconds: float) -> None:
        """Wait, at most that long, until the host has closed its side, too."""
        if self.is_granted:
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._closed.wait()
