"""Which interpreter of a host is meant."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from dflashtui.errors import ConfigError
from dflashtui.ops.remedy_environment import interpreters
from dflashtui.ops.survey import Where
from dflashtui.text import decoded

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from dflashtui.config.model import Config, Host
    from dflashtui.transport.base import Transport

LIMIT_SECONDS = 10.0


async def where_on(
    transport: Transport, config: Config, host: Host, *, unit: str | None = None, python: str | None = None
) -> Where:
    """The interpreter that was named, else that of the unit, else that of all the host's units; run as its owner.

    Raises `ConfigError` if that is none or not one, `TransportLost`.
    """
    if python:
        return await _as_owner(transport, Where(python=python, become=host.become))
    names = (unit,) if unit else config.watched(host)
    known = {one.python: dict(one.environment) for one in config.units if one.name in names and one.python}
    if not known:
        known = {found: {} for found in await _asked(transport, host, names)}
    if len(known) != 1:
        raise ConfigError([_problem(host.name, unit, known)])
    ((path, environment),) = known.items()
    return await _as_owner(transport, Where(python=path, environment=environment, become=host.become))


async def _as_owner(transport: Transport, where: Where) -> Where:
    """What lies in an environment runs with its interpreter: by the rights of whoever may write there, not of root."""
    async with asyncio.timeout(LIMIT_SECONDS):
        done = await transport.run(("stat", "-L", "-c", "%U", "--", str(PurePosixPath(where.python).parent)))
    owner = decoded(done.stdout).strip()
    return where if done.exit_status != 0 or owner in {"root", "UNKNOWN", ""} else replace(where, user=owner)


def _problem(host: str, unit: str | None, known: Iterable[str]) -> str:
    if paths := ", ".join(sorted(known)):
        return f"{host}: its units run several interpreters ({paths}): say which with --python or --unit"
    whose = unit or "its units"
    return (
        f"{host}: nobody knows the interpreter of {whose}: say which with --python, or with python = in the inventory"
    )


async def _asked(transport: Transport, host: Host, names: Sequence[str]) -> tuple[str, ...]:
    """The Pythons in the commands of the host's units, as its manager has them loaded."""
    if not names:
        return ()
    user = ("--user",) if host.manager == "user" else ()
    argv = ("systemctl", *user, "show", "--property=ExecStart", "--", *names)
    async with asyncio.timeout(LIMIT_SECONDS):
        said = decoded((await transport.run(argv)).stdout)
    return tuple(dict.fromkeys(_interpreters(said)))


def _interpreters(said: str) -> Iterator[str]:
    for line in said.splitlines():
        key, _, value = line.partition("=")
        if key == "ExecStart":
            yield from interpreters(None, {"ExecStart": value})[:1]
