"""A unit that moves: what its new host's environment lacks against the old one's."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from dflashtui.engines.packages import BINARY_TOPS
from dflashtui.errors import DflashError
from dflashtui.model.deploy import StepEnd, StepState
from dflashtui.ops.compare import compare
from dflashtui.ops.environment import read_environment
from dflashtui.ops.fleet_transport import FleetTransport
from dflashtui.ops.interpreters import where_on

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dflashtui.config.model import Config
    from dflashtui.fleet.base import Fleet
    from dflashtui.model.comparison import Compared, Comparison
    from dflashtui.model.environment import Environment

LINES_SHOWN = 8
ABSENT = "absent"


async def compared_step(fleet: Fleet, config: Config, unit: str, host: str, old: str, *, force: bool) -> StepEnd:
    """Read both hosts and tell the differences, what decides about binaries first; a fatal one fails the step."""
    try:
        found = await asyncio.gather(*(_environment(fleet, config, unit, name) for name in (old, host)))
    except DflashError as failure:
        return StepEnd(state=StepState.DONE, words=f"its environment could not be compared with {old}'s: {failure}")
    return compared_end(compare(found), host, old, force=force)


async def _environment(fleet: Fleet, config: Config, unit: str, host: str) -> Environment:
    transport = FleetTransport(fleet, host)
    where = await where_on(transport, config, config.host(host), unit=unit)
    return await read_environment(transport, where, requires=False, binaries=BINARY_TOPS)


def compared_end(found: Comparison, host: str, old: str, *, force: bool) -> StepEnd:
    """What it comes to. Pure."""
    different = sorted(found.differences, key=lambda row: not row.fatal)
    fatal = [row for row in different if row.fatal]
    lines = [line for row in different for line in _lines(row, host, old)]
    more = [f"… {len(lines) - LINES_SHOWN} more: dflashtui compare {old} {host}"] if len(lines) > LINES_SHOWN else []
    words = f"{len(different)} differences from {old}" if different else f"the same environment as {old}"
    if fatal:
        words += f", {len(fatal)} of them fatal"
    state = StepState.FAILED if fatal and not force else StepState.DONE
    return StepEnd(state=state, words=words, lines=(*lines[:LINES_SHOWN], *more))


def _lines(row: Compared, host: str, old: str) -> Iterator[str]:
    mark = "fatal: " if row.fatal else ""
    yield f"{mark}{row.name}: {row.on(host) or ABSENT} here, {row.on(old) or ABSENT} on {old}"
    yield from (f"fatal: {remark.message}" for remark in row.fatal if remark.host == host)
