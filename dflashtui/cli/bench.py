"""`dflashtui bench UNIT [UNIT]`: measure a service, or compare two."""

from __future__ import annotations

import asyncio
import json
import shutil
import sys
from functools import partial
from typing import TYPE_CHECKING

from dflashtui import paths
from dflashtui.cli.fleets import inventory, warned
from dflashtui.cli.progress import ERASE_LINE
from dflashtui.cli.targets import complain, fleet_for, narrowed, unreached
from dflashtui.config.match import complete_unit_glob
from dflashtui.errors import ConfigError, DflashError
from dflashtui.exit_code import ExitCode
from dflashtui.fleet.plan import ALL_SOURCES
from dflashtui.ops.audit import Audit
from dflashtui.ops.bench import Bench
from dflashtui.ops.bench_keep import keep
from dflashtui.ops.bench_load import Plan
from dflashtui.ops.bench_report import document, lines, verdict
from dflashtui.ops.bench_switch import Switch, must_share
from dflashtui.ops.bench_watch import watched_start
from dflashtui.text import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dflashtui.cli.parser import Options
    from dflashtui.config.model import Config
    from dflashtui.fleet.base import Fleet
    from dflashtui.model.bench import BenchResult
    from dflashtui.ops.bench_switch import Place

REACH_LIMIT_SECONDS = 30.0
EXIT_CODES = {"measured": ExitCode.OK, "compared": ExitCode.OK, "invalid": ExitCode.FAILED, "partial": ExitCode.FAILED}
MOST_UNITS = 2


def run_bench(options: Options) -> int:
    """Measure, print, keep. Interrupted: what was measured, marked, and the units as they were."""
    if options.demo:
        raise ConfigError(["bench measures real services; those of the demo have no port"])
    config = warned(inventory(options))
    places = _places(config, options)
    hosts = tuple(host for host in config.hosts if host.name in {host for host, _ in places})
    return asyncio.run(_run(config.model_copy(update={"hosts": hosts}), places, options))


def _places(config: Config, options: Options) -> list[Place]:
    """Each word is a unit, or HOST:UNIT. Raises `ConfigError`."""
    if len(options.words) > MOST_UNITS:
        raise ConfigError([f"bench takes one unit or two, not {len(options.words)}"])
    return [_place(config, word, options) for word in options.words]


def _place(config: Config, word: str, options: Options) -> Place:
    host, mark, name = word.partition(":")
    unit = complete_unit_glob(name if mark else word)
    hosts = [one.name for one in narrowed(config, unit, options).hosts if not mark or one.name == host]
    if len(hosts) != 1:
        where = ", ".join(hosts) or f"no host named {host}"
        raise ConfigError([f"{unit} is on {where}: say which with HOST:{unit}, or with --host"])
    return hosts[0], unit


async def _run(config: Config, places: Sequence[Place], options: Options) -> ExitCode:
    watched = config.model_copy(
        update={
            "hosts": tuple(
                host.model_copy(update={"units": (*host.units, *(unit for name, unit in places if name == host.name))})
                for host in config.hosts
            )
        }
    )
    async with fleet_for(watched, options, ALL_SOURCES) as fleet:
        limit = min(options.timeout_seconds or REACH_LIMIT_SECONDS, REACH_LIMIT_SECONDS)
        if missing := await unreached(fleet, limit):
            complain(fleet, missing)
            return ExitCode.UNKNOWN
        await _gpus_are_known(fleet)
        switch = None
        if must_share(watched, places):
            if not await _may_switch(places, options):
                return ExitCode.FAILED
            watch = partial(watched_start, fleet, watched)
            audit = Audit(paths.state_folder())
            switch = Switch(fleet, watched, audit, watch, places, read_only=options.read_only)
        bench = Bench(fleet, watched, places, _plan(options), switch=switch, tell=Screen().tell)
        try:
            return _told(await bench.run(), options)
        except asyncio.CancelledError:
            _told(bench.result(), options)
            raise


async def _gpus_are_known(fleet: Fleet) -> None:
    """The first sample takes a moment; a host without GPUs has none to wait for."""
    try:
        async with asyncio.timeout(3.0), fleet.subscribe() as changes:
            async for _ in changes:
                if all(fleet.snapshot(name).gpus or _has_told(fleet, name) for name in fleet.names):
                    return
    except TimeoutError:
        return


def _has_told(fleet: Fleet, name: str) -> bool:
    return any(state.source == "gpus" and state.problem for state in fleet.snapshot(name).sources)


def _plan(options: Options) -> Plan:
    plain = Plan()
    return Plan(
        levels=tuple(sorted(set(options.levels))) or plain.levels,
        turns=options.repeats or plain.turns,
        max_tokens=options.max_tokens or plain.max_tokens,
        requests=options.requests,
    )


async def _may_switch(places: Sequence[Place], options: Options) -> bool:
    """They are stopped and started in turn: said with every command, and asked once."""
    host = places[0][0]
    sys.stderr.write("they share a GPU, so they run in turn, and are left as they are now:\n")
    for host_name, unit in places:
        sys.stderr.write(f"  systemctl stop {printable(unit)}; systemctl start {printable(unit)}   on {host_name}\n")
    if options.yes:
        return True
    if not sys.stdin.isatty():
        sys.stderr.write("dflashtui: refused: this needs a confirmation; on a terminal, or with --yes\n")
        return False
    sys.stderr.write(f"type {host!r} to go on: ")
    sys.stderr.flush()
    typed: str = await asyncio.to_thread(sys.stdin.readline)
    return typed.strip() == host


class Screen:
    """What goes on, on stderr, where that is a terminal."""

    def __init__(self) -> None:
        self._is_shown = sys.stderr.isatty()

    def tell(self, words: str) -> None:
        """Over the line before."""
        if self._is_shown:
            width = shutil.get_terminal_size().columns - 1
            sys.stderr.write(ERASE_LINE + printable(words)[:width])
            sys.stderr.flush()


def _told(result: BenchResult, options: Options) -> ExitCode:
    if sys.stderr.isatty():
        sys.stderr.write(ERASE_LINE)
    if options.json:
        sys.stdout.write(json.dumps(document(result)) + "\n")
    else:
        for line in lines(result):
            sys.stdout.write(f"{printable(line)}\n")
    try:
        record, page = keep(result, paths.state_folder(), options.report)
        sys.stderr.write(f"record: {record}\nreport: {page}\n")
    except DflashError as trouble:
        sys.stderr.write(f"dflashtui: {printable(str(trouble))}\n")
    return EXIT_CODES[verdict(result)]
