"""A host behind SSH: one connection, many channels."""

from __future__ import annotations

import tempfile
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Never, cast

import asyncssh

from dflashtui.errors import CommandFailed, SourceUnavailable, TransportLost
from dflashtui.text import decoded, printable
from dflashtui.transport.base import OUTPUT_LIMIT_BYTES, Completed
from dflashtui.transport.pipes import PipeStream, collected, status_of_signal
from dflashtui.transport.remote_file import put_argv
from dflashtui.transport.ssh_errors import connected, said
from dflashtui.transport.ssh_openings import Openings
from dflashtui.transport.ssh_sessions import Sessions
from dflashtui.transport.ssh_tcp import TcpReader, TcpWriter
from dflashtui.transport.ssh_way import ways

if TYPE_CHECKING:
    import asyncio
    from collections.abc import AsyncIterator, Callable, Sequence
    from pathlib import PurePosixPath

    from dflashtui.config.model import Host
    from dflashtui.transport.base import Stream
    from dflashtui.transport.gate import HandshakeGate
    from dflashtui.transport.ssh_login import Login

LAST_WORDS_SECONDS = 0.2
"""For commands that are being ended while the connection is left."""
LONGEST_SOCKET_FOLDER = 80
"""sun_path of unix(7) holds 107 bytes."""


@asynccontextmanager
async def connect(
    host: Host, *, gate: HandshakeGate, report_step: Callable[[str], None]
) -> AsyncIterator[SshTransport]:
    """Log in on a host as ssh(1) would, strictly, without a question.

    `report_step`: told what is being waited for. Raises `Unreachable`, `AuthDenied`, `HostKeyRejected` or
    `TransportMisconfigured`.
    """
    async with AsyncExitStack() as stack:
        login = await ways(gate).login(host, report_step, stack)
        openings = Openings()
        stack.push_async_callback(_closed, login, openings)
        yield SshTransport(host.name, login, openings)


async def _closed(login: Login, openings: Openings) -> None:
    await openings.settled_within(LAST_WORDS_SECONDS)
    login.connection.close()
    await openings.wait_closed()


async def _closed_again(pair: tuple[asyncssh.SSHReader[Any], asyncssh.SSHWriter[Any]] | None) -> None:
    if pair is not None:
        pair[1].close()


class SshTransport:
    """The `Transport` of base.py over one SSH connection."""

    def __init__(self, host: str, login: Login, openings: Openings) -> None:
        self.host = host
        self._login = login
        self._openings = openings
        self._sessions = Sessions(host, login, openings)

    @property
    def channels(self) -> int:
        """Session channels open at this moment."""
        return len(self._sessions)

    async def run(
        self, argv: Sequence[str], *, stdin: bytes = b"", output_limit_bytes: int = OUTPUT_LIMIT_BYTES
    ) -> Completed:
        """Run a command to its end. `exit_status` is `None` if the link ended after the command was sent."""
        async with self._sessions.short(argv) as session:
            session.send(stdin)
            session.send_eof()
            stdout, truncated = await collected(session, output_limit_bytes)
        status, signal = session.exit_status, session.exit_signal
        if truncated and status is None:
            status, signal = status_of_signal("TERM"), "TERM"
        return Completed(self.host, tuple(argv), status, stdout, bytes(session.stderr), signal, truncated=truncated)

    @asynccontextmanager
    async def stream(self, argv: Sequence[str]) -> AsyncIterator[Stream]:
        """Start a command and talk with it until the context is left."""
        async with self._sessions.followed(argv) as session:
            yield PipeStream(session, session.send, session.send_eof)

    async def put(self, data: bytes, path: PurePosixPath, *, mode: int) -> None:
        """Write a whole file beside `path`, fsync it, and rename it over `path`."""
        done = await self.run(put_argv(data, path, mode), stdin=data)
        if done.exit_status is None:
            raise TransportLost(self.host, f"the connection ended while {path} was written: look which text it holds")
        if done.exit_status != 0:
            words = printable(decoded(done.stderr[-2000:]).strip())
            raise CommandFailed(self.host, ("put", str(path)), done.exit_status, words)

    @asynccontextmanager
    async def local_socket(self, path: str) -> AsyncIterator[Path]:
        """A local path, in a folder of our own, that reaches the host's unix socket."""
        await self._probe_socket(path)
        base = tempfile.gettempdir()
        if len(base) > LONGEST_SOCKET_FOLDER:
            base = "/tmp"  # noqa: S108 - a private folder is made in it
        with tempfile.TemporaryDirectory(prefix="dflashtui-", dir=base, ignore_cleanup_errors=True) as folder:
            here = Path(folder, "socket")
            with connected(self.host, self._login.lost_reason):
                listener = await self._login.connection.forward_local_path(str(here), path)
            try:
                yield here
            finally:
                listener.close()

    async def _probe_socket(self, path: str) -> None:
        """A forbidden forwarding is told at once, not at first use."""
        opening = self._login.connection.open_unix_connection(path, encoding=None)
        try:
            _, writer = await self._openings.result(opening, _closed_again)
        except asyncssh.ChannelOpenError as refused:
            if refused.code == asyncssh.OPEN_CONNECT_FAILED and not self._login.connection.is_closed():
                raise SourceUnavailable(self.host, path, await self._why_no_socket(path)) from refused
            raise self._refusal(path, refused, "AllowStreamLocalForwarding") from refused
        writer.close()

    async def _why_no_socket(self, path: str) -> str:
        """OpenSSH says `open failed` to a missing socket and to a forbidden forwarding alike."""
        if (await self.run(["test", "-S", path])).exit_status == 0:
            return "sshd does not pass it on (AllowStreamLocalForwarding in sshd_config), or nobody listens there"
        return "there is no such socket"

    async def open_tcp(self, address: str, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A TCP connection made by the host itself."""
        opening = self._login.connection.open_connection(address, port, encoding=None)
        try:
            reader, writer = await self._openings.result(opening, _closed_again)
            ends = TcpReader(reader, self.host, self._lost_reason), TcpWriter(writer, self.host, self._lost_reason)
            return cast("tuple[asyncio.StreamReader, asyncio.StreamWriter]", ends)  # of the same methods
        except asyncssh.ChannelOpenError as refused:
            if refused.code == asyncssh.OPEN_CONNECT_FAILED and not self._login.connection.is_closed():
                raise ConnectionRefusedError(f"{self.host}: {address}:{port}: {said(refused)}") from refused
            raise self._refusal(f"{address}:{port}", refused, "AllowTcpForwarding") from refused

    def _refusal(
        self, source: str, refused: asyncssh.ChannelOpenError, option: str
    ) -> TransportLost | SourceUnavailable:
        if self._login.connection.is_closed():
            return TransportLost(self.host, self._login.lost_reason())
        if refused.code == asyncssh.OPEN_ADMINISTRATIVELY_PROHIBITED:
            return SourceUnavailable(self.host, source, f"sshd forbids to reach it ({option} in sshd_config)")
        return SourceUnavailable(self.host, source, said(refused))

    def _lost_reason(self) -> str:
        return self._login.lost_reason()

    async def lost(self) -> Never:
        """Wait until the link ends, and raise `TransportLost`."""
        await self._login.connection.wait_closed()
        raise TransportLost(self.host, self._login.lost_reason())
