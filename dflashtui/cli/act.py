"""`dflashtui start|stop|restart|… UNIT`: the console's actions, for scripts and quick fingers."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import TYPE_CHECKING

from dflashtui import paths
from dflashtui.cli.confirming import is_allowed
from dflashtui.cli.fleets import inventory, warned
from dflashtui.cli.probe import act_and_probe
from dflashtui.cli.targets import complain, fleet_for, narrowed, unreached
from dflashtui.config.match import complete_unit_glob
from dflashtui.exit_code import ExitCode, worst
from dflashtui.fleet.plan import ALL_SOURCES
from dflashtui.model.action import UnitAction, Verb
from dflashtui.ops.audit import Audit
from dflashtui.ops.units import act
from dflashtui.text import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dflashtui.cli.parser import Options
    from dflashtui.config.model import Config
    from dflashtui.model.action import ActionResult

DEFAULT_LIMIT_SECONDS = 30.0
"""To reach the hosts; an action itself may take as long as its unit allows."""
EXIT_CODES = {True: ExitCode.OK, False: ExitCode.FAILED, None: ExitCode.UNKNOWN}
PROBED = frozenset({Verb.START, Verb.RESTART})
ONLY_UNITS = frozenset({"units"})


def run_act(options: Options) -> int:
    """Act on the unit's hosts and print one line a host; a start goes on until it is ready or dead."""
    unit = complete_unit_glob(options.unit)
    config = narrowed(warned(inventory(options)), unit, options)
    return asyncio.run(_run(config, unit, options))


async def _run(config: Config, unit: str, options: Options) -> ExitCode:
    verb = Verb(options.command)
    probes = verb in PROBED and not options.no_probe
    async with fleet_for(config, options, ALL_SOURCES if probes else ONLY_UNITS) as fleet:
        if missing := await unreached(fleet, options.timeout_seconds or DEFAULT_LIMIT_SECONDS):
            complain(fleet, missing)
            return ExitCode.UNKNOWN
        actions = [
            UnitAction(verb=verb, host=host.name, unit=unit, signal=options.signal, manager=host.manager)
            for host in config.hosts
        ]
        if not await is_allowed(actions, fleet, options):
            return ExitCode.FAILED
        if probes:
            return await act_and_probe(actions, config, fleet, options)
        audit = Audit(paths.state_folder())
        results = [
            _printed(result, options) async for result in act(actions, fleet, audit, read_only=options.read_only)
        ]
    return worst(*(EXIT_CODES[result.ok] for result in results))


def _printed(result: ActionResult, options: Options) -> ActionResult:
    if options.json:
        document = {"schema": 1, **result.model_dump(mode="json", exclude={"action"})}
        action = result.action
        document |= {"host": action.host, "unit": action.unit, "verb": action.verb.value, "command": action.command}
        sys.stdout.write(json.dumps(document) + "\n")
    else:
        words = _words([result.action.host, result.action.command, result.result, result.message])
        sys.stdout.write(f"{words}  ({result.duration_seconds:.1f} s)\n")
    return result


def _words(parts: Sequence[str]) -> str:
    host, command, result, message = map(printable, parts)
    return f"{host}: {command}: {result}" if result == "done" else f"{host}: {command}: {result}: {message}"
