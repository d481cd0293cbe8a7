"""Keys exchanged, host verified, person logged in: one handshake over a way that already answers."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

import asyncssh

from dflashtui.errors import AuthDenied, Unreachable
from dflashtui.text import printable
from dflashtui.transport.ssh_config import KEEPALIVE_SECONDS, KEEPALIVES_UNANSWERED
from dflashtui.transport.ssh_errors import LOGIN_SECONDS, DroppedEarlyError, said
from dflashtui.transport.ssh_hostkey import Introduction
from dflashtui.transport.ssh_keys import key_ring

if TYPE_CHECKING:
    import socket

    from dflashtui.transport.ssh_config import Route
    from dflashtui.transport.ssh_errors import Attempt
    from dflashtui.transport.ssh_keys import KeyRing

SILENT = f"no sign of life for {KEEPALIVE_SECONDS * (KEEPALIVES_UNANSWERED + 1):.1f} s"


@dataclass(frozen=True, slots=True)
class Login:
    """An established connection."""

    connection: asyncssh.SSHClientConnection
    introduction: Introduction
    via: str
    """As in `Attempt`."""
    through: Login | None
    """The jump host."""

    def lost_reason(self) -> str:
        """Why the connection ended."""
        return self.words(self.introduction.lost)

    def words(self, loss: Exception | None) -> str:
        """How the end of the connection is told; `None`: it was in order."""
        if self.through is not None and self.through.connection.is_closed():
            return self.through.lost_reason()
        words = said(loss) if loss else "the host closed the connection"
        return f"{self.via}{SILENT if 'keepalive' in words else words}"


async def log_in(
    route: Route,
    attempt: Attempt,
    *,
    sock: socket.socket | None = None,
    tunnel: Login | None = None,
) -> Login:
    """Log in over a socket or through another connection. Raises what `connecting` of ssh_errors.py understands."""
    introduction = Introduction(route.known)
    async with key_ring(route.agent_path, route.keys, only_files=route.only_named_keys) as ring:
        try:
            async with asyncio.timeout(LOGIN_SECONDS):
                connection = await _handshake(route, introduction, ring, sock, tunnel.connection if tunnel else None)
        except asyncssh.HostKeyNotVerifiable as refused:
            raise introduction.rejection(attempt.host, attempt.via, said(refused)) from refused
        except asyncssh.PermissionDenied as refused:
            raise AuthDenied(attempt.host, attempt.reason(_refusal(route, ring))) from refused
        except asyncssh.ConnectionLost as lost:
            raise _lost(attempt, introduction) from lost
        except TimeoutError as late:
            raise Unreachable(attempt.host, attempt.reason(_lateness(introduction))) from late
    return Login(connection, introduction, attempt.via, tunnel)


async def _handshake(
    route: Route,
    introduction: Introduction,
    ring: KeyRing,
    sock: socket.socket | None,
    tunnel: asyncssh.SSHClientConnection | None,
) -> asyncssh.SSHClientConnection:
    try:
        return await asyncssh.connect(
            route.name,
            route.port,
            sock=sock,
            tunnel=tunnel,
            proxy_command=None,
            options=route.options,
            config=None,
            login_timeout=0,
            known_hosts=introduction.trusted_keys,
            client_factory=lambda: introduction,
            client_keys=ring.pairs or None,
        )
    except BaseException:
        if sock is not None:
            sock.close()
        raise


def _refusal(route: Route, ring: KeyRing) -> str:
    """What was offered, and what might help."""
    offered = ", ".join(printable(pair.get_comment() or pair.get_algorithm()) for pair in ring.pairs)
    keys = f"offered {len(ring.pairs)} of your keys ({offered})" if ring.pairs else "there is no key to offer"
    notes = "".join(f"; {note}" for note in ring.notes)
    advice = "add the public key to authorized_keys there, or name another key by identity_file in hosts.toml"
    return f"refuses the login of {route.user}: {keys}{notes}; {advice}"


def _lost(attempt: Attempt, introduction: Introduction) -> Exception:
    """Before the host key was exchanged, sshd had too many logins at once; afterwards it decided against this one."""
    connection = introduction.connection
    if connection is None or connection.get_server_host_key() is None:
        return DroppedEarlyError(attempt.place)
    return Unreachable(attempt.host, attempt.reason("closed the connection during the login"))


def _lateness(introduction: Introduction) -> str:
    if not introduction.has_answered:
        return f"accepts connections but gives no SSH answer within {LOGIN_SECONDS:.0f} s"
    return f"did not finish the login within {LOGIN_SECONDS:.0f} s"
