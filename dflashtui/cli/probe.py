"""`dflashtui probe UNIT [--start]`, and what follows `start` and `restart`: watch one start on each of its hosts."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from dflashtui import paths
from dflashtui.cli.confirming import is_allowed
from dflashtui.cli.fleets import inventory, warned
from dflashtui.cli.probe_telling import Telling
from dflashtui.cli.progress import Progress
from dflashtui.cli.targets import complain, fleet_for, narrowed, unreached
from dflashtui.config.match import complete_unit_glob
from dflashtui.exit_code import ExitCode, worst
from dflashtui.fleet.plan import ALL_SOURCES
from dflashtui.model.action import UnitAction, Verb
from dflashtui.ops.audit import Audit
from dflashtui.ops.evidence import Evidence
from dflashtui.ops.probe import Probe
from dflashtui.ops.probe_report import exit_code
from dflashtui.ops.probe_wanted import wanted_of
from dflashtui.ops.units import act

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dflashtui.cli.parser import Options
    from dflashtui.config.model import Config
    from dflashtui.fleet.base import Fleet
    from dflashtui.model.action import ActionResult

REACH_LIMIT_SECONDS = 30.0


def run_probe(options: Options) -> int:
    """Watch the unit's start on each of its hosts, and say it in the exit code."""
    unit = complete_unit_glob(options.unit)
    config = narrowed(warned(inventory(options)), unit, options)
    return asyncio.run(_run(config, unit, options))


async def _run(config: Config, unit: str, options: Options) -> ExitCode:
    async with fleet_for(config, options, ALL_SOURCES) as fleet:
        missing = await unreached(fleet, min(options.timeout_seconds or REACH_LIMIT_SECONDS, REACH_LIMIT_SECONDS))
        complain(fleet, missing)
        if not options.start:
            seen = [host.name for host in config.hosts if host.name not in missing]
            codes = await _probed(_probes(fleet, config, unit, options, seen), config, fleet, options, {})
            return worst(*codes, *(ExitCode.UNKNOWN for _ in missing))
        if missing:
            return ExitCode.UNKNOWN
        actions = [
            UnitAction(verb=Verb.START, host=host.name, unit=unit, manager=host.manager) for host in config.hosts
        ]
        if not await is_allowed(actions, fleet, options):
            return ExitCode.FAILED
        return await act_and_probe(actions, config, fleet, options)


async def act_and_probe(actions: Sequence[UnitAction], config: Config, fleet: Fleet, options: Options) -> ExitCode:
    """Carry out starts, in waves, and watch each of them until it is ready or dead."""
    loop = asyncio.get_running_loop()
    asked: dict[str, asyncio.Future[ActionResult]] = {action.host: loop.create_future() for action in actions}
    probes = _probes(fleet, config, actions[0].unit, options, list(asked), will_start=True)
    async with asyncio.TaskGroup() as group:
        watching = group.create_task(_probed(probes, config, fleet, options, asked))
        audit = Audit(paths.state_folder())
        async for result in act(actions, fleet, audit, read_only=options.read_only):
            asked[result.action.host].set_result(result)
        codes = await watching
    return worst(*codes)


def _probes(
    fleet: Fleet, config: Config, unit: str, options: Options, hosts: Sequence[str], *, will_start: bool = False
) -> dict[str, Probe]:
    evidence = Evidence(None if fleet.is_demo else paths.state_folder())
    progress = Progress(len(hosts))
    return {
        host: Probe(
            fleet,
            wanted_of(config, host, unit, options.timeout_seconds),
            progress.tell,
            evidence,
            will_start=will_start,
        )
        for host in hosts
    }


async def _probed(
    probes: Mapping[str, Probe],
    config: Config,
    fleet: Fleet,
    options: Options,
    asked: Mapping[str, asyncio.Future[ActionResult]],
) -> list[ExitCode]:
    telling = Telling(fleet, config, options, is_single=len(probes) == 1)

    async def one(host: str, probe: Probe) -> ExitCode:
        result = await probe.run(asked.get(host))
        await telling.tell(result)
        return exit_code(result)

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(one(host, probe)) for host, probe in probes.items()]
    return [task.result() for task in tasks]
