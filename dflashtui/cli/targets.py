"""Which hosts a command about one unit goes to, and waiting until they are there."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING

from dflashtui.cli.fleets import opener
from dflashtui.demo.fleet import DemoFleet
from dflashtui.errors import ConfigError
from dflashtui.fleet.fleet import RealFleet
from dflashtui.model.host import LinkState
from dflashtui.text import printable

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dflashtui.cli.parser import Options
    from dflashtui.config.model import Config
    from dflashtui.fleet.base import Fleet


def narrowed(config: Config, unit: str, options: Options) -> Config:
    """The inventory with the unit's hosts alone, on which it is watched. Raises `ConfigError`."""
    hosts = (config.host(name) for name in _hosts(config, unit, options))
    watching = (host.model_copy(update={"units": tuple(dict.fromkeys((*host.units, unit)))}) for host in hosts)
    return config.model_copy(update={"hosts": tuple(watching)})


def _hosts(config: Config, unit: str, options: Options) -> tuple[str, ...]:
    """The hosts that the inventory defines the unit for; another unit needs `--host`."""
    names = tuple(host.name for host in config.hosts)
    defined = config.unit(unit)
    if defined:
        chosen = tuple(name for name in names if name in defined.hosts)
        if chosen:
            return chosen
        raise ConfigError([f"{unit} is defined for {', '.join(defined.hosts)}, not for the hosts chosen by --host"])
    if options.hosts or len(names) == 1:
        return names
    raise ConfigError([f"the inventory does not define {unit}: say where with --host (hosts: {', '.join(names)})"])


def fleet_for(config: Config, options: Options, sources: frozenset[str]) -> Fleet:
    """The hosts of an inventory, or the demo's in their place."""
    return DemoFleet(config) if options.demo else RealFleet(config, opener(), sources=sources)


async def unreached(fleet: Fleet, limit_seconds: float) -> list[str]:
    """Wait until every host is up with its units known, or has failed; gives those that cannot be acted on."""
    try:
        async with asyncio.timeout(limit_seconds), fleet.subscribe() as changes:
            async for _ in changes:
                if all(_is_settled(fleet, name) for name in fleet.names):
                    break
    except TimeoutError:
        pass  # the caller names the hosts that gave no answer
    return [name for name in fleet.names if fleet.snapshot(name).units is None]


async def unlinked(fleet: Fleet, limit_seconds: float) -> list[str]:
    """Wait until every host is up, or has failed; gives those that are not up."""
    try:
        async with asyncio.timeout(limit_seconds), fleet.subscribe() as changes:
            async for _ in changes:
                if all(fleet.snapshot(name).link.state is not LinkState.CONNECTING for name in fleet.names):
                    break
    except TimeoutError:
        pass  # as above
    return [name for name in fleet.names if fleet.snapshot(name).link.state is not LinkState.UP]


def complain(fleet: Fleet, names: Iterable[str]) -> None:
    """Say on stderr why these hosts cannot be acted on."""
    for name in names:
        link = fleet.snapshot(name).link
        problem = next((state.problem for state in fleet.snapshot(name).sources if state.source == "units"), None)
        sys.stderr.write(f"dflashtui: {name}: {printable(link.error or problem or link.state.value)}\n")


def _is_settled(fleet: Fleet, name: str) -> bool:
    snapshot = fleet.snapshot(name)
    return snapshot.units is not None or snapshot.link.state not in {LinkState.CONNECTING, LinkState.UP}
