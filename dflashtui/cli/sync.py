"""`dflashtui sync FROM TO PACKAGE…`: make the packages of one host like those of another; `--undo` puts them back."""

from __future__ import annotations

import asyncio
import json
import sys
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from dflashtui import paths
from dflashtui.cli.confirming import confirmed
from dflashtui.cli.fleets import inventory, opener, warned
from dflashtui.cli.looking import named_hosts
from dflashtui.config.match import complete_unit_glob
from dflashtui.errors import ActionRefused, ConfigError
from dflashtui.exit_code import ExitCode
from dflashtui.fleet.plan import first_snapshot
from dflashtui.model.environment import normal
from dflashtui.ops.audit import Audit
from dflashtui.ops.interpreters import where_on
from dflashtui.ops.sync import apply, last_exchanges, undo
from dflashtui.ops.sync_asking import sync_confirmation, undo_confirmation
from dflashtui.ops.sync_report import document, lines
from dflashtui.ops.sync_sides import OneHost, obstacle, planned, read_side
from dflashtui.text import printable

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from dflashtui.cli.parser import Options
    from dflashtui.config.model import Config, Host
    from dflashtui.model.command import CommandResult
    from dflashtui.model.sync import SyncPlan
    from dflashtui.ops.sync_sides import Side
    from dflashtui.transport.base import Transport

PAIR = 2
EXIT_CODES = {True: ExitCode.OK, False: ExitCode.FAILED, None: ExitCode.UNKNOWN}


def run_sync(options: Options) -> int:
    """Show the plan, have it confirmed, carry it out, look again."""
    config = warned(inventory(options))
    if options.demo:
        raise ConfigError(["the demo's hosts have no packages to sync"])
    if options.read_only and not options.dry_run:
        raise ActionRefused("sync: refused: this console is read-only; --dry-run shows the plan")
    if options.undo:
        return asyncio.run(_undo(config, _target(config, options), options))
    if len(options.words) <= PAIR:
        raise ConfigError(["sync: name two hosts, and the packages: sync FROM TO PACKAGE…"])
    source, target = (_one(config, name) for name in options.words[:PAIR])
    if source == target:
        raise ConfigError([f"sync: {source.name} is both ends"])
    return asyncio.run(_sync(config, source, target, options))


def _one(config: Config, name: str) -> Host:
    hosts = named_hosts(config, (name,))
    if len(hosts) > 1:
        raise ConfigError([f"{name}: names {len(hosts)} hosts, sync goes from one to one"])
    return hosts[0]


def _target(config: Config, options: Options) -> Host:
    """`--undo TO` and `--undo FROM TO …` mean the same."""
    return _one(config, options.words[1] if len(options.words) >= PAIR else options.words[0])


async def _side(stack: AsyncExitStack, config: Config, host: Host, options: Options, packages: Sequence[str]) -> Side:
    (side,) = await _sides(stack, config, (host,), options, packages)
    return side


async def _sides(
    stack: AsyncExitStack, config: Config, hosts: Sequence[Host], options: Options, packages: Sequence[str]
) -> list[Side]:
    unit = complete_unit_glob(options.units[0]) if options.units else None
    transports = [await stack.enter_async_context(opener()(host, lambda _: None)) for host in hosts]

    async def read(host: Host, transport: Transport) -> Side:
        where = await where_on(transport, config, host, unit=unit, python=options.python)
        return await read_side(host, transport, where, packages)

    return await asyncio.gather(*(read(host, transport) for host, transport in zip(hosts, transports, strict=True)))


async def _sync(config: Config, source: Host, target: Host, options: Options) -> ExitCode:
    packages = tuple(dict.fromkeys(map(normal, options.words[PAIR:])))
    async with AsyncExitStack() as stack:
        there, here = await _sides(stack, config, (source, target), options, packages)
        plan = await planned(there, here, packages, copy=options.copy)
        _show(plan, options)
        if plan.is_empty or plan.of("refused") or options.dry_run:
            return ExitCode.FAILED if plan.of("refused") else ExitCode.OK
        snapshot = first_snapshot(config, target)
        if why := obstacle(here):
            raise ActionRefused(f"{target.name}: {why}")
        if not options.yes and not await confirmed(sync_confirmation(plan, here, snapshot)):
            return ExitCode.FAILED
        fleet = OneHost(here.transport, snapshot)
        results = apply(plan, there, here, fleet, Audit(paths.state_folder()), _say, read_only=options.read_only)
        code = await _carried_out(results)
        return await _looked_again(there, here, packages, options) if code is ExitCode.OK else code


async def _looked_again(there: Side, here: Side, packages: Sequence[str], options: Options) -> ExitCode:
    """Whether it is as it should be now."""
    again = await read_side(here.host, here.transport, here.where, packages)
    left = await planned(there, again, packages, copy=options.copy)
    if left.is_empty:
        _say(
            f"{here.host.name} has them as {there.host.name} has them; sync --undo {here.host.name} puts back what was"
        )
        return ExitCode.OK
    for line in lines(left):
        _say(line)
    _say("these still differ")
    return ExitCode.FAILED


async def _undo(config: Config, target: Host, options: Options) -> ExitCode:
    async with AsyncExitStack() as stack:
        here = await _side(stack, config, target, options, ())
        exchanges = await last_exchanges(here)
        packages = sorted({str(package) for one in exchanges for package in one["packages"]})
        _say(f"{target.name}: put back {', '.join(packages)}")
        if options.dry_run:
            return ExitCode.OK
        snapshot = first_snapshot(config, target)
        if not options.yes and not await confirmed(undo_confirmation(packages, here, snapshot)):
            return ExitCode.FAILED
        fleet = OneHost(here.transport, snapshot)
        audit = Audit(paths.state_folder())
        return await _carried_out(undo(exchanges, here, fleet, audit, _say, read_only=options.read_only))


async def _carried_out(results: AsyncIterator[CommandResult]) -> ExitCode:
    code = ExitCode.OK
    async for result in results:
        code = EXIT_CODES[result.ok]
        if result.ok is not True:
            sys.stderr.write(f"dflashtui: {printable(result.message)}\n")
    return code


def _show(plan: SyncPlan, options: Options) -> None:
    if options.json:
        sys.stdout.write(json.dumps(document(plan)) + "\n")
    else:
        sys.stdout.writelines(f"{line}\n" for line in lines(plan))
    sys.stdout.flush()


def _say(line: str) -> None:
    sys.stderr.write(f"{printable(line)}\n")
    sys.stderr.flush()
