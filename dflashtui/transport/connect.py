"""One way in: the transport that a host's inventory entry asks for."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from dflashtui.transport.local import LocalTransport

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from dflashtui.config.model import Host
    from dflashtui.transport.base import Transport
    from dflashtui.transport.gate import HandshakeGate


@asynccontextmanager
async def open_transport(
    host: Host, *, gate: HandshakeGate, report_step: Callable[[str], None]
) -> AsyncIterator[Transport]:
    """A transport to `host` until the context is left.

    Raises `Unreachable`, `AuthDenied`, `HostKeyRejected` or `TransportMisconfigured`.
    """
    if host.transport == "local":
        yield LocalTransport(host.name)
        return
    from dflashtui.transport.ssh import connect  # noqa: PLC0415 - asyncssh costs 150 ms, the first picture comes before

    async with connect(host, gate=gate, report_step=report_step) as transport:
        yield transport
