"""An SSH server inside the test's own process, on loopback, that really runs commands, as sshd does it."""

import asyncio
import os
import signal as signals
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

import asyncssh


@dataclass
class LoopbackServer:
    """What the server allows; may be changed while it runs."""

    authorized_keys: str
    host_keys: list[asyncssh.SSHKey] = field(default_factory=lambda: [asyncssh.generate_private_key("ssh-ed25519")])
    shell: tuple[str, ...] = ("/bin/sh", "-c")
    """The login shell."""
    prelude: str = ""
    """What its start files do, such as talking."""
    on_exec: Callable[[], None] = lambda: None
    """Called when a command is asked for, before that is confirmed."""
    max_sessions: int = 10
    allows_sockets: bool = True
    allows_tcp: bool = True
    passes_signals: bool = False
    """sshd does it for all but root."""
    users: list[str] = field(default_factory=list)
    """Who logged in."""
    requests: list[str] = field(default_factory=list)
    """What was asked for on session channels: `exec`, `pty`, `env X`."""
    introductions: int = 0
    """Handshakes that came to a login, granted or not."""
    logins: int = 0
    running: set["Child"] = field(default_factory=set)
    """Commands that have not ended."""
    sessions: int = 0
    """Slots in use; as with sshd, one is free only when its command ended."""
    most_sessions: int = 0
    """The most that were in use at once."""
    refusals: int = 0
    """Sessions that were asked for beyond `max_sessions`."""
    connections: list[asyncssh.SSHServerConnection] = field(default_factory=list)
    port: int = 0

    def cut(self) -> None:
        """Abort every connection."""
        for connection in list(self.connections):
            connection.abort()

    def farewell(self) -> None:
        """Close every connection in order."""
        for connection in list(self.connections):
            connection.close()


class Child(asyncio.SubprocessProtocol):
    """A command in a session of its own; its pipes close with the channel, its slot when it ends."""

    transport: asyncio.SubprocessTransport

    def __init__(self, session: "CommandSession") -> None:
        self.session = session
        self.gone = asyncio.Event()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.SubprocessTransport)
        self.transport = transport

    def pipe(self, descriptor: int) -> asyncio.WriteTransport:
        found = self.transport.get_pipe_transport(descriptor)
        assert found is not None
        return found  # type: ignore[return-value]  # or one to read from

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if self.session.is_closed:
            return
        self.session.channel.write(data, asyncssh.EXTENDED_DATA_STDERR if fd == 2 else None)

    def process_exited(self) -> None:
        self.session.server.running.discard(self)
        self.session.server.sessions -= 1

    def connection_lost(self, exc: Exception | None) -> None:
        status = self.transport.get_returncode()
        assert status is not None
        self.session.command_ended(status)
        self.transport.close()
        self.gone.set()

    def kill(self, number: signals.Signals) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.transport.get_pid(), number)

    def let_go(self) -> None:
        """Close our ends of the pipes."""
        for descriptor in (0, 1, 2):
            self.pipe(descriptor).close()


class CommandSession(asyncssh.SSHServerSession[bytes]):
    """One session channel."""

    channel: asyncssh.SSHServerChannel[bytes]

    def __init__(self, server: LoopbackServer) -> None:
        self.server = server
        self._command = ""
        self._child: Child | None = None
        self._early = bytearray()
        self._is_eof = self.is_closed = False

    def connection_made(self, chan: asyncssh.SSHServerChannel[bytes]) -> None:
        self.channel = chan

    def exec_requested(self, command: str) -> bool:
        self._command = command
        self.server.requests += [f"env {name}" for name in self.channel.get_environment()]
        self.server.requests.append("exec")
        self.server.on_exec()
        return True

    def pty_requested(self, term_type: str, term_size: tuple[int, int, int, int], term_modes: object) -> bool:
        self.server.requests.append("pty")
        return False

    def session_started(self) -> None:
        self.channel.get_connection().create_task(self._start())

    async def _start(self) -> None:
        _, child = await asyncio.get_running_loop().subprocess_exec(
            lambda: Child(self), *self.server.shell, self.server.prelude + self._command, start_new_session=True
        )
        self._child = child
        self.server.running.add(child)
        child.pipe(0).write(bytes(self._early))
        if self._is_eof:
            child.pipe(0).close()
        if self.is_closed:
            child.let_go()

    def data_received(self, data: bytes, datatype: int | None) -> None:
        if self._child is None:
            self._early += data
        else:
            self._child.pipe(0).write(data)

    def eof_received(self) -> bool:
        self._is_eof = True
        if self._child is not None:
            self._child.pipe(0).close()
        return True

    def pause_writing(self) -> None:
        if self._child is not None:
            for descriptor in (1, 2):
                self._child.pipe(descriptor).pause_reading()  # type: ignore[attr-defined]  # one to read from

    def resume_writing(self) -> None:
        if self._child is not None:
            for descriptor in (1, 2):
                self._child.pipe(descriptor).resume_reading()  # type: ignore[attr-defined]  # one to read from

    def signal_received(self, signal: str) -> None:
        if self.server.passes_signals and self._child is not None:
            self._child.kill(signals.Signals[f"SIG{signal}"])

    def command_ended(self, status: int) -> None:
        if self.is_closed:
            return
        if status < 0:
            self.channel.exit_with_signal(signals.Signals(-status).name.removeprefix("SIG"))
        else:
            self.channel.exit(status)

    def connection_lost(self, exc: Exception | None) -> None:
        self.is_closed = True
        if self._child is not None and not self._child.gone.is_set():
            self._child.let_go()


class _Doorman(asyncssh.SSHServer):
    def __init__(self, server: LoopbackServer) -> None:
        self._server = server

    def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
        self._connection = conn
        self._server.connections.append(conn)

    def connection_lost(self, exc: Exception | None) -> None:
        self._server.connections.remove(self._connection)

    def begin_auth(self, username: str) -> bool:
        self._server.introductions += 1
        self._user = username
        keys = self._server.authorized_keys
        if keys:
            self._connection.set_authorized_keys(asyncssh.import_authorized_keys(keys))
        return True

    def auth_completed(self) -> None:
        self._server.logins += 1
        self._server.users.append(self._user)

    def unix_connection_requested(self, dest_path: str) -> bool:
        if not self._server.allows_sockets:
            raise asyncssh.ChannelOpenError(asyncssh.OPEN_ADMINISTRATIVELY_PROHIBITED, "open failed")
        return True

    def connection_requested(self, dest_host: str, dest_port: int, orig_host: str, orig_port: int) -> bool:
        if not self._server.allows_tcp:
            raise asyncssh.ChannelOpenError(asyncssh.OPEN_ADMINISTRATIVELY_PROHIBITED, "open failed")
        return True

    def session_requested(self) -> CommandSession:
        server = self._server
        if server.sessions >= server.max_sessions:
            server.refusals += 1
            raise asyncssh.ChannelOpenError(asyncssh.OPEN_CONNECT_FAILED, "open failed")
        server.sessions += 1
        server.most_sessions = max(server.most_sessions, server.sessions)
        return CommandSession(server)


@asynccontextmanager
async def loopback_server(server: LoopbackServer) -> AsyncIterator[LoopbackServer]:
    """The server, listening on 127.0.0.1 at `port`. Whatever runs at the end is killed."""
    acceptor = await asyncssh.create_server(
        lambda: _Doorman(server),
        "127.0.0.1",
        server.port,
        server_host_keys=server.host_keys,
        encoding=None,
        login_timeout=30,
    )
    server.port = acceptor.get_port()
    try:
        yield server
    finally:
        acceptor.close()
        await acceptor.wait_closed()
        for connection in list(server.connections):
            connection.abort()
            await connection.wait_closed()
        for child in list(server.running):
            child.kill(signals.SIGKILL)
            await child.gone.wait()
