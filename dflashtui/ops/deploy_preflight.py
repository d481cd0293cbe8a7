"""The preflight as the first step of a deployment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflashtui.errors import DflashError
from dflashtui.model.deploy import StepEnd, StepState
from dflashtui.ops.fleet_transport import FleetTransport

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from dflashtui.config.model import Config
    from dflashtui.fleet.base import Fleet
    from dflashtui.model.preflight import Preflight, PreflightFinding

LINES_SHOWN = 12


def preflight_step(
    fleet: Fleet, config: Config, unit: str, *, force: bool, moves_from: str | None = None
) -> Callable[[str], Awaitable[StepEnd]]:
    """What looks at a host, and compares it with the one that the unit moves from.

    `force`: what is fatal is told, and stops nothing.
    """

    async def look(host: str) -> StepEnd:
        from dflashtui.ops.deploy_compare import compared_step  # noqa: PLC0415 - as the next
        from dflashtui.ops.preflight import preflight  # noqa: PLC0415 - its many checks, only where they are asked for

        try:
            found = await preflight(config, unit, config.host(host), FleetTransport(fleet, host))
        except DflashError as failure:
            return StepEnd(state=StepState.UNKNOWN, words=str(failure))
        end = step_end(found, force=force)
        if moves_from is None:
            return end
        return both(end, await compared_step(fleet, config, unit, host, moves_from, force=force))

    return look


def both(first: StepEnd, second: StepEnd) -> StepEnd:
    """Two looks as one step: it fails if either does. Pure."""
    state = first.state if first.state is not StepState.DONE else second.state
    return StepEnd(state=state, words=f"{first.words}; {second.words}", lines=(*first.lines, *second.lines))


def step_end(found: Preflight, *, force: bool) -> StepEnd:
    """A fatal finding fails the step; others are only told. Pure."""
    fatal = [one for one in found.findings if one.level == "fatal"]
    lines = [_line(one) for one in found.findings if one.level != "note"]
    more = [f"… {len(lines) - LINES_SHOWN} more: dflashtui preflight {found.unit}"] if len(lines) > LINES_SHOWN else []
    state = StepState.FAILED if fatal and not force else StepState.DONE
    return StepEnd(state=state, words=_words(found, fatal, force=force), lines=(*lines[:LINES_SHOWN], *more))


def _words(found: Preflight, fatal: list[PreflightFinding], *, force: bool) -> str:
    if fatal:
        count = f"{len(fatal)} fatal finding{'s' if len(fatal) != 1 else ''}"
        return f"{count}, gone on by --force" if force else f"{count}; --force goes on all the same"
    others = sum(one.level != "note" for one in found.findings)
    return f"no fatal finding, {others} to look at" if others else "no fault found"


def _line(one: PreflightFinding) -> str:
    return f"{one.level}: {one.message}" + (f"; {one.remedy}" if one.remedy else "")
