"""`dflashtui preflight UNIT`: every fault that shows without a start; with `--fix` the remedies that are commands."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import TYPE_CHECKING

from dflashtui import paths
from dflashtui.cli.colour import wants_colour
from dflashtui.cli.fleets import inventory, warned
from dflashtui.cli.hosts_looked_at import linked
from dflashtui.config.match import complete_unit_glob
from dflashtui.config.words import proposal, shown
from dflashtui.errors import ConfigError, DflashError
from dflashtui.exit_code import ExitCode, worst
from dflashtui.ops.audit import Audit
from dflashtui.ops.commands import run_command
from dflashtui.ops.fleet_transport import FleetTransport
from dflashtui.ops.preflight import LIMIT_SECONDS, preflight
from dflashtui.ops.preflight_fix import fixes
from dflashtui.ops.preflight_report import document, exit_code, lines
from dflashtui.text import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dflashtui.cli.hosts_looked_at import Here
    from dflashtui.cli.parser import Options
    from dflashtui.config.model import Config, Host
    from dflashtui.model.command import HostCommand
    from dflashtui.model.preflight import Preflight

AFFIRMED = frozenset({"y", "yes"})


def run_preflight(options: Options) -> int:
    """Look at each of the unit's hosts at once, and say it in the exit code."""
    config = warned(inventory(options))
    unit = complete_unit_glob(options.unit)
    return asyncio.run(_run(config, unit, _hosts(config, unit, options), options))


def _hosts(config: Config, unit: str, options: Options) -> list[str]:
    """Those of `--host`, also where the inventory does not give it to them; else its own. Raises `ConfigError`."""
    names = [host.name for host in config.hosts]
    defined = config.unit(unit)
    if options.hosts or len(names) == 1:
        return names
    if defined:
        return [name for name in names if name in defined.hosts]
    known = proposal(unit, [one.name for one in config.units], "units")
    raise ConfigError([f"the inventory defines no unit {shown(unit)}{known}; say where to look with --host"])


async def _run(config: Config, unit: str, names: Sequence[str], options: Options) -> ExitCode:
    async with linked(config, names, options) as here:
        found, code = await _everywhere(config, unit, here, options)
        if options.fix:
            code = worst(code, await _fixed(found, here, options))
    return worst(here.code, code)


async def _everywhere(config: Config, unit: str, here: Here, options: Options) -> tuple[list[Preflight], ExitCode]:
    """Each host's result is printed as it comes."""
    results: list[Preflight] = []
    codes: list[ExitCode] = []

    async def one(host: Host) -> None:
        limit = options.timeout_seconds or LIMIT_SECONDS
        transport = FleetTransport(here.fleet, host.name)
        try:
            found = await preflight(config, unit, host, transport, limit_seconds=limit, read_only=options.read_only)
        except DflashError as failure:
            sys.stderr.write(f"dflashtui: {printable(str(failure))}\n")
            codes.append(ExitCode.UNKNOWN)
            return
        results.append(found)
        codes.append(exit_code(found))
        _print(found, options)

    async with asyncio.TaskGroup() as group:
        for host in here.hosts:
            group.create_task(one(host))
    return results, worst(*codes)


def _print(found: Preflight, options: Options) -> None:
    if options.json:
        sys.stdout.write(json.dumps(document(found)) + "\n")
    else:
        sys.stdout.write("".join(f"{line}\n" for line in lines(found, colour=wants_colour(options))))
    sys.stdout.flush()


async def _fixed(found: Sequence[Preflight], here: Here, options: Options) -> ExitCode:
    """Every remedy that is a command: one plan, one question, then one after the other; a host stops at its failure."""
    plan = fixes(found)
    if not plan:
        sys.stderr.write("dflashtui: no finding has a remedy that is a command\n")
        return ExitCode.OK
    if not await _allowed(plan, here, options):
        return ExitCode.FAILED
    audit = Audit(paths.state_folder())
    async with asyncio.TaskGroup() as group:
        hosts = dict.fromkeys(command.host for command in plan)
        running = [
            group.create_task(_carried_out([one for one in plan if one.host == host], here, audit, options))
            for host in hosts
        ]
    return worst(*(task.result() for task in running))


async def _carried_out(plan: Sequence[HostCommand], here: Here, audit: Audit, options: Options) -> ExitCode:
    for command in plan:

        def tell(line: str, host: str = command.host) -> None:
            sys.stderr.write(f"{host}: {printable(line)}\n")

        sys.stderr.write(f"{printable(f'{command.host}: $ {command.command}')}\n")
        result = await run_command(command, here.fleet, audit, tell, read_only=options.read_only)
        sys.stderr.write(f"dflashtui: {printable(result.message)}\n")
        if not result.ok:
            return ExitCode.UNKNOWN if result.ok is None else ExitCode.FAILED
    return ExitCode.OK


async def _allowed(plan: Sequence[HostCommand], here: Here, options: Options) -> bool:
    """The whole plan is shown; a word is typed where a host is protected or several are changed."""
    for command in plan:
        sys.stderr.write(f"{printable(f'{command.host}: $ {command.command}')}\n")
    if options.yes:
        return True
    if not sys.stdin.isatty():
        sys.stderr.write("dflashtui: refused: this needs a confirmation; on a terminal, or with --yes\n")
        return False
    hosts = tuple(dict.fromkeys(command.host for command in plan))
    guarded = any(here.fleet.snapshot(host).protected for host in hosts)
    word = hosts[0] if guarded or len(hosts) > 1 else ""
    sys.stderr.write(f"type {word!r} to run all of it: " if word else f"run all of it on {hosts[0]}? [y/N] ")
    sys.stderr.flush()
    typed: str = await asyncio.to_thread(sys.stdin.readline)
    return typed.strip() == word if word else typed.strip().lower() in AFFIRMED
