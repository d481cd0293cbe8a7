"""`dflashtui smoke UNIT`: one real streamed completion on each of its hosts."""

from __future__ import annotations

import asyncio
import getpass
import json
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

from dflashtui.cli.fleets import inventory, warned
from dflashtui.cli.targets import complain, fleet_for, narrowed, unreached
from dflashtui.config.match import complete_unit_glob
from dflashtui.errors import ConfigError, DflashError
from dflashtui.exit_code import ExitCode, worst
from dflashtui.model.generation import Outcome
from dflashtui.ops.endpoint import KEY_VARIABLE, find_endpoint
from dflashtui.ops.smoke import LIMITS, PROMPT, smoke
from dflashtui.ops.smoke_report import document, lines
from dflashtui.source.completion import Limits
from dflashtui.text import printable

if TYPE_CHECKING:
    from dflashtui.cli.parser import Options
    from dflashtui.config.model import Config
    from dflashtui.engines.openai import Piece
    from dflashtui.fleet.base import Fleet
    from dflashtui.model.smoke import SmokeResult
    from dflashtui.ops.endpoint import Endpoint

REACH_LIMIT_SECONDS = 30.0
SOURCES = frozenset({"units"})
COULD_NOT_LOOK = {Outcome.UNAUTHORISED}
NO_KEY = f"the key is read from the unit's process, which needs the right to; {KEY_VARIABLE} may hold it instead"


def run_smoke(options: Options) -> int:
    """Ask on each host in turn, and say it in the exit code."""
    if options.demo:
        raise ConfigError(["smoke asks real services; those of the demo have no port"])
    unit = complete_unit_glob(options.unit)
    config = narrowed(warned(inventory(options)), unit, options)
    return asyncio.run(_run(config, unit, options))


async def _run(config: Config, unit: str, options: Options) -> ExitCode:
    async with fleet_for(config, options, SOURCES) as fleet:
        missing = await unreached(fleet, min(options.timeout_seconds or REACH_LIMIT_SECONDS, REACH_LIMIT_SECONDS))
        complain(fleet, missing)
        hosts = [host.name for host in config.hosts if host.name not in missing]
        codes = [await _one(fleet, config, host, unit, options) for host in hosts]
    return worst(*codes, *(ExitCode.UNKNOWN for _ in missing))


async def _one(fleet: Fleet, config: Config, host: str, unit: str, options: Options) -> ExitCode:
    try:
        service = await find_endpoint(fleet, config, host, unit)
    except DflashError as trouble:
        sys.stderr.write(f"dflashtui: {printable(str(trouble))}\n")
        return ExitCode.UNKNOWN
    result = await _asked(service, options)
    if result.is_locked and (key := await _typed(service)):
        result = await _asked(replace(service, key=key), options)
    _tell(result, options)
    if result.is_proven:
        return ExitCode.OK
    return ExitCode.UNKNOWN if result.generation.outcome in COULD_NOT_LOOK else ExitCode.FAILED


async def _asked(service: Endpoint, options: Options) -> SmokeResult:
    screen = Screen(is_silent=options.json)
    seconds = options.timeout_seconds or LIMITS.seconds
    limits = Limits(seconds=seconds, silent_seconds=min(seconds, LIMITS.silent_seconds))
    try:
        return await smoke(service, screen.hear, prompt=options.prompt or PROMPT, limits=limits)
    finally:
        screen.end()


async def _typed(service: Endpoint) -> str | None:
    """The key from a person, unseen; `None` where nobody can be asked."""
    if not sys.stdin.isatty():
        sys.stderr.write(f"dflashtui: {service.host}: {NO_KEY}\n")
        return None
    return await asyncio.to_thread(getpass.getpass, f"API key of {service.unit} on {service.host}: ") or None


class Screen:
    """Text as it arrives; thoughts stand apart from the answer."""

    def __init__(self, *, is_silent: bool) -> None:
        self._is_silent = is_silent
        self._is_thinking = False
        self._is_begun = False

    def hear(self, piece: Piece) -> None:
        """Write a piece."""
        if self._is_silent or not (piece.text or piece.thought):
            return
        if piece.thought and not self._is_thinking:
            sys.stdout.write("(thinking) ")
        if piece.text and self._is_thinking:
            sys.stdout.write("\n(answer) ")
        self._is_thinking, self._is_begun = bool(piece.thought), True
        sys.stdout.write("\n".join(map(printable, (piece.thought + piece.text).split("\n"))))
        sys.stdout.flush()

    def end(self) -> None:
        """Nothing more comes."""
        if self._is_begun:
            sys.stdout.write("\n")


def _tell(result: SmokeResult, options: Options) -> None:
    if options.json:
        sys.stdout.write(json.dumps(document(result)) + "\n")
        return
    for line in lines(result):
        sys.stdout.write(f"{printable(line)}\n")
