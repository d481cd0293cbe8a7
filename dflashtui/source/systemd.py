"""The service manager of a host, by the best way that the host allows."""

from __future__ import annotations

from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dflashtui.errors import CommandFailed, DecodeError, NoSystemd, SourceUnavailable
from dflashtui.source.systemd_bridge import bridge_socket
from dflashtui.source.systemd_bus import MANAGER, SYSTEMD_PATH, connected
from dflashtui.source.systemd_command import Systemctl
from dflashtui.source.systemd_units import BusUnits, SystemctlUnits
from dflashtui.source.systemd_values import major_version
from dflashtui.text import decoded, printable

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path

    from dflashtui.source.units import UnitSource
    from dflashtui.transport.base import Transport

SYSTEM_BUS = "/run/dbus/system_bus_socket"
BOOTED = "/run/systemd/system"
"""Exists where systemd is the running init (sd_booted(3))."""


@dataclass(frozen=True, slots=True)
class _Place:
    """Which manager is meant, and where its bus is."""

    bus_socket: str = SYSTEM_BUS
    runtime_folder: str | None = None


@asynccontextmanager
async def open_units(transport: Transport, *, manager: str, become: str) -> AsyncIterator[UnitSource]:
    """The bus, else the bus through systemd-stdio-bridge, else systemctl. `manager`: `system` or `user`.

    Raises `NoSystemd`, `SourceUnavailable` (a user's manager that does not run), `TransportLost`.
    """
    place = await _user_place(transport) if manager == "user" else _Place()
    async with AsyncExitStack() as stack:
        yield await _best(stack, transport, place, become)


async def _best(stack: AsyncExitStack, transport: Transport, place: _Place, become: str) -> UnitSource:
    try:
        return await stack.enter_async_context(_by_bus(transport, place, become))
    except SourceUnavailable:
        await _require_systemd(transport)
    try:
        return await stack.enter_async_context(_by_bridge(transport, place, become))
    except SourceUnavailable:
        return await _by_systemctl(transport, place, become)


def _by_bus(transport: Transport, place: _Place, become: str) -> AbstractAsyncContextManager[UnitSource]:
    return _over(transport, lambda: transport.local_socket(place.bus_socket), place, "bus", become)


def _by_bridge(transport: Transport, place: _Place, become: str) -> AbstractAsyncContextManager[UnitSource]:
    return _over(transport, lambda: bridge_socket(transport, place.bus_socket), place, "stdio-bridge", become)


@asynccontextmanager
async def _over(
    transport: Transport, socket: Callable[[], AbstractAsyncContextManager[Path]], place: _Place, via: str, become: str
) -> AsyncIterator[UnitSource]:
    async with socket() as path, connected(transport, path) as bus:
        version = major_version(str(await bus.get(SYSTEMD_PATH, MANAGER, "Version")))
        systemctl = Systemctl(transport, place.runtime_folder)
        yield BusUnits(bus, systemctl, via=via, version=version, become=become)


async def _by_systemctl(transport: Transport, place: _Place, become: str) -> UnitSource:
    systemctl = Systemctl(transport, place.runtime_folder)
    try:
        version = major_version(decoded(await systemctl.read("--version")))
    except CommandFailed as failed:
        raise SourceUnavailable(transport.host, "units", f"systemctl cannot be used: {failed}") from failed
    return SystemctlUnits(systemctl, version=version, become=become)


async def _require_systemd(transport: Transport) -> None:
    if (await transport.run(("test", "-d", BOOTED))).exit_status == 0:
        return
    first = printable(decoded((await transport.run(("cat", "/proc/1/comm"))).stdout).strip()) or "unknown"
    raise NoSystemd(transport.host, "units", f"the host does not run systemd (process 1 is {first})")


async def _user_place(transport: Transport) -> _Place:
    """The folder of the login user's manager. Raises `SourceUnavailable` if the manager does not run."""
    uid = decoded((await transport.run(("id", "-u"))).check().stdout).strip()
    user = printable(decoded((await transport.run(("id", "-un"))).check().stdout).strip())
    if not uid.isdecimal():
        raise DecodeError("id -u", uid.encode())
    folder = f"/run/user/{uid}"
    if (await transport.run(("test", "-d", f"{folder}/systemd"))).exit_status == 0:
        return _Place(f"{folder}/bus", folder)
    await _require_systemd(transport)
    reason = f"the manager of user {user} does not run; once, on the host: loginctl enable-linger {user}"
    raise SourceUnavailable(transport.host, "units", reason)
