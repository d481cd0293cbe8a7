"""`dflashtui --check`."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING

from dflashtui.check.run import CheckOptions, check
from dflashtui.cli.colour import wants_colour
from dflashtui.cli.fleets import inventory, opener, warned
from dflashtui.config.match import match_units

if TYPE_CHECKING:
    from dflashtui.check.run import Look
    from dflashtui.cli.parser import Options
    from dflashtui.config.model import Config

DEFAULT_LIMIT_SECONDS = 30.0


def run_check(options: Options) -> int:
    """Look once, print, and say it in the exit code."""
    config = warned(inventory(options))
    wanted = CheckOptions(
        limit_seconds=options.timeout_seconds or DEFAULT_LIMIT_SECONDS,
        units=match_units(config, options.units),
        as_json=options.json,
        colour=wants_colour(options),
    )
    return asyncio.run(check(_look(config, options), wanted, sys.stdout.write))


def _look(config: Config, options: Options) -> Look:
    if options.demo:
        from dflashtui.demo.look import DemoLook

        return DemoLook(config)
    from dflashtui.fleet.look import FleetLook

    return FleetLook(config, opener())
