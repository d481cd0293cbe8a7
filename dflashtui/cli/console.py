"""`dflashtui`: the console. Imports as little as it can before the first picture."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from dflashtui import paths
from dflashtui.config.file import find
from dflashtui.errors import ConfigError
from dflashtui.tui import garbage
from dflashtui.tui.start import run
from dflashtui.tui.threads import take_turns_quickly

if TYPE_CHECKING:
    from pathlib import Path

    from dflashtui.cli.parser import Options
    from dflashtui.config.model import Config
    from dflashtui.fleet.base import Fleet


TERMINAL_IN, TERMINAL_OUT = 0, 2
"""Textual reads from the first and draws on the second."""


def run_console(options: Options) -> int:
    """Open the console and give its exit status. Raises `ConfigError` where nobody could see it."""
    if not all(os.isatty(one) for one in (TERMINAL_IN, TERMINAL_OUT)):
        raise ConfigError(["the console needs a terminal; for scripts: dflashtui --check, dflashtui logs UNIT"])
    if options.no_color:
        os.environ["NO_COLOR"] = "1"
    return run(
        _path(options),
        lambda: _config(options),
        lambda config: _fleet(config, options),
        hosts=options.hosts,
        demo=options.demo,
        read_only=options.read_only,
        ascii_only=options.ascii,
    )


def _path(options: Options) -> Path | None:
    found = find(options.config)
    return paths.shared("hosts.toml") if found is None and options.demo else found


def _config(options: Options) -> Config:
    from dflashtui.cli.fleets import inventory
    from dflashtui.cli.logging_setup import log_to_file

    log_to_file(verbose=options.verbose)
    return inventory(options)


def _fleet(config: Config, options: Options) -> Fleet:
    """Called behind the first picture: what was imported until then is never garbage, what comes now may be."""
    garbage.watch()
    take_turns_quickly()
    if options.demo:
        from dflashtui.demo.fleet import DemoFleet

        return DemoFleet(config)
    from dflashtui.cli.fleets import opener
    from dflashtui.fleet.fleet import RealFleet

    return RealFleet(config, opener())
