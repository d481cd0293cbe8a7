"""`dflashtui logs UNIT…`."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from dflashtui.cli.colour import wants_colour
from dflashtui.cli.fleets import inventory, opener, warned
from dflashtui.config.match import complete_unit_glob
from dflashtui.errors import ConfigError
from dflashtui.ops.logs import logs
from dflashtui.ops.logs_tail import LogOptions, LogSource

if TYPE_CHECKING:
    from dflashtui.cli.parser import Options
    from dflashtui.config.model import Config, Host

DEFAULT_LINES = 100


def run_logs(options: Options) -> int:
    """Print the journal of the units of all their hosts, in one order of time."""
    if options.demo:
        raise ConfigError(["logs reads real journals; the demo's are on its screen: dflashtui --demo"])
    config = warned(inventory(options))
    units = tuple(dict.fromkeys(map(complete_unit_glob, (options.unit, *options.words))))
    open_transport = opener()
    sources = [
        LogSource(
            host=host.name,
            connect=partial(open_transport, host, lambda _step: None),
            manager=host.manager,
            become=host.become,
            units=its_units,
        )
        for host in config.hosts
        if (its_units := tuple(unit for unit in units if _is_there(config, host, unit, options)))
    ]
    wanted = replace(_wanted(options), has_units=len(units) > 1, tells_skew=len(sources) > 1)
    return asyncio.run(logs(sources, " ".join(units), wanted, _write, _warn))


def _is_there(config: Config, host: Host, unit: str, options: Options) -> bool:
    """Where the unit is defined; where `--host` says; else everywhere."""
    defined = config.unit(unit)
    return bool(options.hosts) or defined is None or host.name in defined.hosts


def _wanted(options: Options) -> LogOptions:
    lines = options.lines if options.lines is not None else None if options.since else DEFAULT_LINES
    return LogOptions(
        follow=options.follow,
        lines=lines,
        since=options.since,
        grep=options.grep,
        priority=options.priority,
        json=options.json,
        output=options.output,
        kernel=options.kernel,
        color=wants_colour(options),
        timeout_seconds=options.timeout_seconds,
    )


def _write(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def _warn(line: str) -> None:
    sys.stderr.write(f"dflashtui: {line}\n")
