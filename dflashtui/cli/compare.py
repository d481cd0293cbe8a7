"""`dflashtui compare HOST HOST…`: what differs between the environments of hosts."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import TYPE_CHECKING

from dflashtui.cli.colour import wants_colour
from dflashtui.cli.fleets import inventory, warned
from dflashtui.cli.looking import named_hosts, on_hosts
from dflashtui.engines.packages import BINARY_TOPS
from dflashtui.errors import ConfigError
from dflashtui.exit_code import ExitCode
from dflashtui.model.comparison import Remark
from dflashtui.model.environment import normal
from dflashtui.ops.compare import compare, compare_files
from dflashtui.ops.compare_report import document, lines
from dflashtui.ops.environment import read_environment, read_files

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dflashtui.cli.parser import Options
    from dflashtui.config.model import Config, Host
    from dflashtui.model.comparison import Comparison
    from dflashtui.model.environment import Environment, PackageFile
    from dflashtui.ops.survey import Where
    from dflashtui.transport.base import Transport

FEWEST = 2
EXIT_CODES = {
    "same": ExitCode.OK,
    "differs": ExitCode.WARNING,
    "fatal": ExitCode.FAILED,
    "unknown": ExitCode.UNKNOWN,
}


def run_compare(options: Options) -> int:
    """Read the hosts side by side, print what differs, and say it in the exit code."""
    config = warned(inventory(options))
    hosts = named_hosts(config, options.words)
    if options.demo:
        raise ConfigError(["the demo's hosts have no environments to compare"])
    if len(hosts) < FEWEST:
        raise ConfigError(["compare: name two hosts or more"])
    comparison = asyncio.run(_compared(config, hosts, options))
    _print(comparison, options)
    return EXIT_CODES[comparison.verdict]


async def _compared(config: Config, hosts: Sequence[Host], options: Options) -> Comparison:
    if options.package:
        return await _compared_files(config, hosts, options, normal(options.package))

    async def look(transport: Transport, where: Where) -> Environment:
        return await read_environment(transport, where, requires=False, binaries=BINARY_TOPS)

    found, unread = await on_hosts(config, hosts, options, look)
    return compare(list(found.values()), unread)


async def _compared_files(config: Config, hosts: Sequence[Host], options: Options, package: str) -> Comparison:
    async def look(transport: Transport, where: Where) -> tuple[tuple[PackageFile, ...], tuple[str, ...]]:
        return await read_files(transport, where, (package,))

    found, unread = await on_hosts(config, hosts, options, look)
    trouble = [Remark(host=host, message=why) for host, (_, some) in found.items() for why in some]
    return compare_files({host: files for host, (files, _) in found.items()}, (*unread, *trouble))


def _print(comparison: Comparison, options: Options) -> None:
    if options.json:
        sys.stdout.write(json.dumps(document(comparison, every=options.all)) + "\n")
        return
    for line in lines(comparison, every=options.all, colour=wants_colour(options)):
        sys.stdout.write(f"{line}\n")
