"""`dflashtui start|stop|restart|… UNIT`: the console's actions, for scripts and quick fingers."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import TYPE_CHECKING

from dflashtui import paths
from dflashtui.cli.fleets import inventory, opener, warned
from dflashtui.config.match import complete_unit_glob
from dflashtui.demo.fleet import DemoFleet
from dflashtui.errors import ConfigError
from dflashtui.exit_code import ExitCode, worst
from dflashtui.fleet.fleet import RealFleet
from dflashtui.model.action import UnitAction, Verb, Weight
from dflashtui.model.host import LinkState
from dflashtui.ops.audit import Audit
from dflashtui.ops.units import act
from dflashtui.ops.weight import confirmation
from dflashtui.text import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dflashtui.cli.parser import Options
    from dflashtui.config.model import Config
    from dflashtui.fleet.base import Fleet
    from dflashtui.model.action import ActionResult
    from dflashtui.ops.weight import Confirmation

DEFAULT_LIMIT_SECONDS = 30.0
"""To reach the hosts; an action itself may take as long as its unit allows."""
EXIT_CODES = {True: ExitCode.OK, False: ExitCode.FAILED, None: ExitCode.UNKNOWN}


def run_action(options: Options) -> int:
    """Act on the unit's hosts and print one line a host."""
    config = warned(inventory(options))
    unit = complete_unit_glob(options.unit)
    config = config.model_copy(update={"hosts": tuple(config.host(name) for name in _hosts(config, unit, options))})
    return asyncio.run(_run(config, unit, options))


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


async def _run(config: Config, unit: str, options: Options) -> ExitCode:
    fleet: Fleet = DemoFleet(config) if options.demo else RealFleet(config, opener(), sources=frozenset({"units"}))
    actions = [
        UnitAction(verb=Verb(options.command), host=host.name, unit=unit, signal=options.signal, manager=host.manager)
        for host in config.hosts
    ]
    async with fleet:
        unreached = await _reached(fleet, options.timeout_seconds or DEFAULT_LIMIT_SECONDS)
        for name in unreached:
            link = fleet.snapshot(name).link
            sys.stderr.write(f"dflashtui: {name}: {printable(link.error or link.state.value)}\n")
        if unreached:
            return ExitCode.UNKNOWN
        asked = confirmation(actions, {name: fleet.snapshot(name) for name in fleet.names})
        if not options.yes and asked.weight is Weight.HEAVY and not await _confirmed(asked):
            return ExitCode.FAILED
        audit = Audit(paths.state_folder())
        results = [
            _printed(result, options) async for result in act(actions, fleet, audit, read_only=options.read_only)
        ]
    return worst(*(EXIT_CODES[result.ok] for result in results))


async def _reached(fleet: Fleet, limit_seconds: float) -> list[str]:
    """Wait until every host is up with its units known, or has failed; gives those that cannot be acted on."""
    try:
        async with asyncio.timeout(limit_seconds), fleet.subscribe() as changes:
            async for _ in changes:
                if all(_is_settled(fleet, name) for name in fleet.names):
                    break
    except TimeoutError:
        pass  # the caller names the hosts that gave no answer
    return [name for name in fleet.names if fleet.snapshot(name).units is None]


def _is_settled(fleet: Fleet, name: str) -> bool:
    snapshot = fleet.snapshot(name)
    return snapshot.units is not None or snapshot.link.state not in {LinkState.CONNECTING, LinkState.UP}


async def _confirmed(asked: Confirmation) -> bool:
    """Show the plan and have a word typed. Without a terminal to ask on, the action is refused."""
    plan = [f"{command}   on {', '.join(asked.hosts)}" for command in dict.fromkeys(asked.commands)]
    for line in (*plan, *(f"because: {reason}" for reason in asked.reasons)):
        sys.stderr.write(f"{printable(line)}\n")
    if not sys.stdin.isatty():
        sys.stderr.write("dflashtui: refused: this needs a confirmation; on a terminal, or with --yes\n")
        return False
    sys.stderr.write(f"type {asked.word!r} to go on: ")
    sys.stderr.flush()
    typed: str = await asyncio.to_thread(sys.stdin.readline)
    return typed.strip() == asked.word


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
