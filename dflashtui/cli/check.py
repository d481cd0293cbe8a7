"""`dflashtui --check`."""

from __future__ import annotations

import asyncio
import os
import sys
from typing import TYPE_CHECKING

from dflashtui.check.run import CheckOptions, check
from dflashtui.cli.fleets import inventory, opener, warned
from dflashtui.config.match import match_units
from dflashtui.demo.look import DemoLook
from dflashtui.fleet.look import FleetLook

if TYPE_CHECKING:
    from dflashtui.cli.parser import Options

DEFAULT_LIMIT_SECONDS = 30.0


def run_check(options: Options) -> int:
    """Look once, print, and say it in the exit code."""
    config = warned(inventory(options))
    look = DemoLook(config) if options.demo else FleetLook(config, opener())
    wanted = CheckOptions(
        limit_seconds=options.timeout_seconds or DEFAULT_LIMIT_SECONDS,
        units=match_units(config, options.units),
        as_json=options.json,
        colour=wants_colour(options),
    )
    return asyncio.run(check(look, wanted, sys.stdout.write))


def wants_colour(options: Options) -> bool:
    """Only on a terminal, and not against the person's wish (https://no-color.org)."""
    return sys.stdout.isatty() and not options.no_color and not os.environ.get("NO_COLOR")
