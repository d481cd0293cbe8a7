"""A start within a bench, watched as every start is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflashtui import paths
from dflashtui.model.probe import Verdict
from dflashtui.ops.evidence import Evidence
from dflashtui.ops.probe import Probe
from dflashtui.ops.probe_wanted import wanted_of

if TYPE_CHECKING:
    import asyncio

    from dflashtui.config.model import Config
    from dflashtui.fleet.base import Fleet
    from dflashtui.model.action import ActionResult, UnitAction


async def watched_start(
    fleet: Fleet, config: Config, action: UnitAction, asked: asyncio.Future[ActionResult]
) -> str | None:
    """`None` when it is ready; else the verdict and the cause, in words."""
    wanted = wanted_of(config, action.host, action.unit)
    probe = Probe(fleet, wanted, lambda _: None, Evidence(paths.state_folder()), will_start=True)
    result = await probe.run(asked)
    if result.verdict is Verdict.READY:
        return None
    cause = f": {result.cause.in_words}" if result.cause else ""
    return f"{result.verdict.value}: {result.words}{cause}"
