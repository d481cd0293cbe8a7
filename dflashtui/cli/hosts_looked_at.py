"""Connecting to a unit's hosts and looking at its file on each of them."""

from __future__ import annotations

import sys
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dflashtui.cli.targets import complain, fleet_for, unlinked
from dflashtui.errors import ConfigError, DflashError
from dflashtui.exit_code import ExitCode, worst
from dflashtui.ops.pushing import Seen, look_everywhere
from dflashtui.text import printable

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from dflashtui.cli.parser import Options
    from dflashtui.config.model import Config, Host
    from dflashtui.fleet.base import Fleet
    from dflashtui.ops.overlay import OverlayFiles

DEFAULT_LIMIT_SECONDS = 30.0
NO_SOURCES: frozenset[str] = frozenset()
"""The link alone: unit files are looked at by a program of their own."""


@dataclass
class Here:
    """The unit's hosts, connected, and what was seen on each."""

    fleet: Fleet
    hosts: tuple[Host, ...]
    seen: dict[str, Seen] = field(default_factory=dict)
    code: ExitCode = ExitCode.OK
    """`UNKNOWN` where a host could not be looked at, `FAILED` where it refused."""

    def host(self, name: str) -> Host:
        """Its entry in the inventory."""
        return next(host for host in self.hosts if host.name == name)


@asynccontextmanager
async def linked(
    config: Config, names: Sequence[str], options: Options, sources: frozenset[str] = NO_SOURCES
) -> AsyncIterator[Here]:
    """Connect to these hosts; those that cannot be reached are told on stderr."""
    if options.demo:
        raise ConfigError(["the hosts of the demo have no unit files: use it without --demo"])
    hosts = tuple(config.host(name) for name in names)
    async with fleet_for(config.model_copy(update={"hosts": hosts}), options, sources) as fleet:
        missing = await unlinked(fleet, options.timeout_seconds or DEFAULT_LIMIT_SECONDS)
        complain(fleet, missing)
        up = tuple(host for host in hosts if host.name not in missing)
        yield Here(fleet, up, code=ExitCode.UNKNOWN if missing else ExitCode.OK)


@asynccontextmanager
async def looking(
    config: Config,
    names: Sequence[str],
    unit: str,
    options: Options,
    overlays: Sequence[OverlayFiles] = (),
    sources: frozenset[str] = NO_SOURCES,
) -> AsyncIterator[Here]:
    """Connect, and look at the unit on each host."""
    async with linked(config, names, options, sources) as here:
        found = await look_everywhere(here.fleet, here.hosts, unit, overlays)
        for name, seen in found.items():
            if isinstance(seen, DflashError):
                sys.stderr.write(f"dflashtui: {printable(_named(name, seen))}\n")
                here.code = worst(here.code, ExitCode.UNKNOWN)
            else:
                here.seen[name] = seen
        yield here


def _named(host: str, failure: DflashError) -> str:
    words = str(failure)
    return words if words.startswith(f"{host}: ") else f"{host}: {words}"
