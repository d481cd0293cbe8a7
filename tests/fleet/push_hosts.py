"""Hosts of the fleet as the inventory would have them, and the shipped pusher on a connection of its own."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from dflashtui.config.model import Host
from dflashtui.source.pusher import Pusher, pusher
from dflashtui.transport.connect import open_transport
from dflashtui.transport.gate import HandshakeGate

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.fleet.harness.fleet import TestFleet


def entry(fleet: TestFleet, name: str, user: str = "root", **more: object) -> Host:
    """A host, with whatever else its table would say."""
    host = Host(
        name=name,
        address=fleet.hosts[name].address,
        user=user,
        identity_file=fleet.identity_file,
        known_hosts=fleet.known_hosts,
    )
    return host.model_copy(update=more)


def through(fleet: TestFleet, name: str, port: int, folder: Path) -> Host:
    """A host behind a proxy on loopback, its keys known under the proxy's address."""
    known = folder / f"known_hosts-{port}"
    address = fleet.hosts[name].address
    keys = [line.split(" ", 1)[1] for line in fleet.known_hosts.read_text().splitlines() if address in line]
    known.write_text("".join(f"[127.0.0.1]:{port} {key}\n" for key in keys))
    return entry(fleet, name, address="127.0.0.1", port=port, known_hosts=known)


@asynccontextmanager
async def on(host: Host) -> AsyncIterator[Pusher]:
    """The pusher, on a connection of its own."""
    async with (
        open_transport(host, gate=HandshakeGate(), report_step=lambda _: None) as transport,
        pusher(transport.stream, host.name, manager=host.manager, become=host.become, who="a test") as opened,
    ):
        yield opened
