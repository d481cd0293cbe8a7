"""The two unit sources: over a bus, and by asking systemctl again and again."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from dflashtui.errors import ActionDenied, ActionRefused, CommandFailed, DecodeError, SourceUnavailable
from dflashtui.source import systemd_jobs
from dflashtui.source.systemd_names import full_pattern, is_glob, is_template, is_unit_name, matches
from dflashtui.source.systemd_show import blocks, first_words, typed
from dflashtui.source.systemd_values import PROPERTIES, unit_status
from dflashtui.source.systemd_watch import Watch

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence

    from dflashtui.model.action import UnitAction
    from dflashtui.model.unit import UnitStatus
    from dflashtui.source.systemd_bus import Bus
    from dflashtui.source.systemd_command import Systemctl

ASK_SECONDS = 2.0
MICROSECONDS_SINCE = 247
"""systemctl knows `--timestamp=us+utc` from here on; before, seconds have to do."""
SUDO = "sudo"


class BusUnits:
    """A service manager over a bus: no polling, no process on the host."""

    def __init__(self, bus: Bus, systemctl: Systemctl, *, via: str, version: int | None, become: str) -> None:
        self._bus = bus
        self._systemctl = systemctl
        self._via = via
        self._version = version
        self._become = become
        self._watches: set[Watch] = set()

    @property
    def via(self) -> str:
        """`bus` or `stdio-bridge`."""
        return self._via

    @property
    def systemd_version(self) -> int | None:
        """`252`."""
        return self._version

    async def watch(self, patterns: Sequence[str]) -> AsyncGenerator[tuple[UnitStatus, ...], None]:
        """See `UnitSource`."""
        watch = Watch(self._bus, checked(self._bus.host, patterns))
        self._watches.add(watch)
        try:
            with self._bus.listening(watch):
                async for units in watch.follow():
                    yield units
        finally:
            self._watches.discard(watch)

    async def refresh(self) -> None:
        """Have every watch read everything again."""
        for watch in self._watches:
            watch.doubt_all()

    async def perform(self, action: UnitAction) -> tuple[str, str]:
        """See `UnitSource`."""
        return await performed(action, "bus", lambda: systemd_jobs.perform(self._bus, action), self._sudo())

    def _sudo(self) -> Systemctl | None:
        return self._systemctl if self._become == SUDO else None

    async def unit_file(self, unit: str) -> str:
        """See `UnitSource`."""
        return await self._systemctl.unit_file(unit)

    async def properties(self, unit: str) -> dict[str, str]:
        """See `UnitSource`."""
        return await self._systemctl.properties(unit)


class SystemctlUnits:
    """A service manager asked by `systemctl show` every two seconds: where nothing else is allowed."""

    def __init__(self, systemctl: Systemctl, *, version: int | None, become: str) -> None:
        self._systemctl = systemctl
        self._version = version
        self._become = become
        self._now = asyncio.Event()

    @property
    def via(self) -> str:
        """`systemctl`."""
        return "systemctl"

    @property
    def systemd_version(self) -> int | None:
        """`252`."""
        return self._version

    async def watch(self, patterns: Sequence[str]) -> AsyncGenerator[tuple[UnitStatus, ...], None]:
        """See `UnitSource`."""
        wanted = checked(self._systemctl.transport.host, patterns)
        last = None
        while True:
            self._now.clear()
            units = await self._units(wanted)
            if units != last:
                last = units
                yield units
            try:
                async with asyncio.timeout(ASK_SECONDS):
                    await self._now.wait()
            except TimeoutError:
                continue

    async def refresh(self) -> None:
        """Ask now."""
        self._now.set()

    async def perform(self, action: UnitAction) -> tuple[str, str]:
        """See `UnitSource`."""
        sudo = self._systemctl if self._become == SUDO else None
        return await performed(action, "systemctl", lambda: self._systemctl.perform(action), sudo)

    async def unit_file(self, unit: str) -> str:
        """See `UnitSource`."""
        return await self._systemctl.unit_file(unit)

    async def properties(self, unit: str) -> dict[str, str]:
        """See `UnitSource`."""
        return await self._systemctl.properties(unit)

    async def _units(self, patterns: Sequence[str]) -> tuple[UnitStatus, ...]:
        """Raises `SourceUnavailable`, `TransportLost`."""
        try:
            return await self._shown(patterns)
        except (CommandFailed, DecodeError) as failed:
            raise SourceUnavailable(self._systemctl.transport.host, "units", str(failed)) from failed

    async def _shown(self, patterns: Sequence[str]) -> tuple[UnitStatus, ...]:
        names = await self._names(patterns)
        if not names:
            return ()
        exact = (self._version or 0) >= MICROSECONDS_SINCE
        timestamp = ("--timestamp=us+utc",) if exact else ()
        output = await self._systemctl.read("show", f"--property={','.join(PROPERTIES)}", *timestamp, "--", *names)
        units = {unit.name: unit for unit in map(unit_status, map(typed, blocks(output)))}
        return ordered(patterns, units)

    async def _names(self, patterns: Sequence[str]) -> list[str]:
        """Plain names and, for the globs, what is loaded or installed."""
        names = {pattern for pattern in patterns if not is_glob(pattern)}
        globs = [pattern for pattern in patterns if is_glob(pattern)]
        if globs:
            shape = ("--no-legend", "--no-pager", "--plain", "--full", "--")
            names.update(first_words(await self._systemctl.read("list-units", "--all", *shape, *globs)))
            names.update(first_words(await self._systemctl.read("list-unit-files", *shape, *globs)))
        return sorted(name for name in names if is_unit_name(name) and not is_template(name))


def ordered(patterns: Sequence[str], units: dict[str, UnitStatus]) -> tuple[UnitStatus, ...]:
    """In the order of the patterns, then by name; units that only a glob covers must exist."""
    found: dict[str, UnitStatus] = {}
    for pattern in patterns:
        for name in sorted(units):
            unit = units[name]
            is_there = not is_glob(pattern) or unit.load_state != "not-found"
            if is_there and any(matches(pattern, own) for own in (name, *unit.aliases)):
                found.setdefault(name, unit)
    return tuple(found.values())


async def performed(
    action: UnitAction, way: str, attempt: Callable[[], Awaitable[str]], sudo: Systemctl | None
) -> tuple[str, str]:
    """The result of an action and the way it went: sudo only where the plain way is denied."""
    if not is_unit_name(action.unit):
        raise ActionRefused(f"{action.unit!r} is no unit name; nothing was sent to {action.host}")
    try:
        return await attempt(), way
    except ActionDenied:
        if sudo is None or sudo.runtime_folder:
            raise
    return await sudo.perform_by_sudo(action), SUDO


def checked(host: str, patterns: Sequence[str]) -> tuple[str, ...]:
    """Full patterns. Raises `SourceUnavailable` for one that systemd would not take."""
    try:
        return tuple(full_pattern(pattern) for pattern in patterns)
    except ValueError as problem:
        raise SourceUnavailable(host, "units", str(problem)) from problem
