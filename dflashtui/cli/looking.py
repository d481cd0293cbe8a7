"""Looking at a few hosts once, side by side, without a fleet."""

from __future__ import annotations

import asyncio
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, TypeVar

from dflashtui.cli.fleets import opener
from dflashtui.config.match import complete_unit_glob
from dflashtui.config.words import proposal, shown
from dflashtui.errors import ConfigError, DflashError
from dflashtui.model.comparison import Remark
from dflashtui.ops.interpreters import where_on

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from dflashtui.cli.parser import Options
    from dflashtui.config.model import Config, Host
    from dflashtui.ops.survey import Where
    from dflashtui.transport.base import Transport

T = TypeVar("T")
DEFAULT_LIMIT_SECONDS = 30.0


def named_hosts(config: Config, names: Sequence[str]) -> tuple[Host, ...]:
    """The hosts of these names or globs, each once, in their order. Raises `ConfigError`."""
    known = [host.name for host in config.hosts]
    idle = [name for name in names if not any(fnmatchcase(one, name) for one in known)]
    if idle:
        raise ConfigError([f"{shown(name)}: no such host{proposal(name, known, 'hosts')}" for name in idle])
    found = (one for name in names for one in known if fnmatchcase(one, name))
    return tuple(config.host(name) for name in dict.fromkeys(found))


async def on_hosts(
    config: Config, hosts: Sequence[Host], options: Options, look: Callable[[Transport, Where], Awaitable[T]]
) -> tuple[dict[str, T], list[Remark]]:
    """What `look` found on each host, all at once; those that could not be looked at, and why. Raises `ConfigError`."""
    unit = complete_unit_glob(options.units[0]) if options.units else None
    open_transport = opener()
    found: dict[str, T] = {}
    unread: list[Remark] = []

    async def one(host: Host) -> None:
        try:
            async with (
                asyncio.timeout(options.timeout_seconds or DEFAULT_LIMIT_SECONDS),
                open_transport(host, lambda _: None) as transport,
            ):
                where = await where_on(transport, config, host, unit=unit, python=options.python)
                found[host.name] = await look(transport, where)
        except TimeoutError:
            unread.append(Remark(host=host.name, message="no answer in time"))
        except ConfigError:
            raise
        except DflashError as trouble:
            unread.append(Remark(host=host.name, message=str(trouble).removeprefix(f"{host.name}: ")))

    try:
        async with asyncio.TaskGroup() as group:
            for host in hosts:
                group.create_task(one(host))
    except* ConfigError as wrong:
        problems = [
            problem for error in wrong.exceptions if isinstance(error, ConfigError) for problem in error.problems
        ]
        raise ConfigError(problems) from wrong
    return {host.name: found[host.name] for host in hosts if host.name in found}, unread
