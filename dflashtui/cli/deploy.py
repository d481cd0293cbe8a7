"""`dflashtui deploy UNIT`: preflight, push, restart and probe, host after host; with `--rollback` back again."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dflashtui import paths
from dflashtui.cli.colour import wants_colour
from dflashtui.cli.confirming import confirmed
from dflashtui.cli.deploy_table import LiveTable
from dflashtui.cli.diff import would_change
from dflashtui.cli.fleets import inventory_path, warned
from dflashtui.cli.hosts_looked_at import DEFAULT_LIMIT_SECONDS, looking
from dflashtui.cli.targets import complain, unreached
from dflashtui.config.match import complete_unit_glob, match_hosts
from dflashtui.config.read import load
from dflashtui.config.words import proposal, shown
from dflashtui.errors import ConfigError
from dflashtui.exit_code import ExitCode
from dflashtui.fleet.plan import ALL_SOURCES
from dflashtui.model.action import Weight
from dflashtui.ops.audit import Audit
from dflashtui.ops.deploy import Deploy, Plan
from dflashtui.ops.deploy_means import RealMeans, Setting
from dflashtui.ops.deploy_preflight import preflight_step
from dflashtui.ops.deploy_record import DeployLog
from dflashtui.ops.deploy_report import document, exit_code, lines
from dflashtui.ops.evidence import Evidence
from dflashtui.ops.overlay import overlay_files
from dflashtui.ops.push import wanted_text
from dflashtui.ops.pushing import PushJob, doubts
from dflashtui.ops.render import rendered
from dflashtui.ops.weight import change_confirmation

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from dflashtui.cli.hosts_looked_at import Here
    from dflashtui.cli.parser import Options
    from dflashtui.config.model import Config
    from dflashtui.model.deploy import HostDeploy
    from dflashtui.ops.overlay import OverlayFiles
    from dflashtui.ops.render import Rendered


@dataclass(frozen=True, slots=True)
class Target:
    """What goes where."""

    config: Config
    """Of all hosts that take part; the unit is defined for each of them."""
    unit: str
    texts: tuple[Rendered, ...]
    leaves: tuple[str, ...]
    """Hosts on which it is stopped once it is ready on the others."""
    moves_from: str | None = None
    """A host of the inventory's, where all of the chosen ones are others."""


def run_deploy(options: Options) -> int:
    """Show the difference, ask by weight, deploy; one block a host, and the worst of them in the exit code."""
    config = warned(load(inventory_path(options)))
    return asyncio.run(_run(target(config, complete_unit_glob(options.unit), options), options))


def target(config: Config, unit: str, options: Options) -> Target:
    """Its hosts, or those of `--host`, also where the inventory does not give it to them. Raises `ConfigError`."""
    defined = config.unit(unit)
    if defined is None:
        known = [one.name for one in config.units]
        raise ConfigError([f"the inventory defines no unit {shown(unit)}{proposal(unit, known, 'units')}"])
    chosen = [host.name for host in match_hosts(config, options.hosts) if options.hosts or host.name in defined.hosts]
    leaves = tuple(name for name in defined.hosts if name not in chosen) if options.stop_old else ()
    if options.stop_old and not leaves:
        raise ConfigError([f"--stop-old: {unit} is defined for no other host than {', '.join(chosen)}"])
    moves_from = None if set(chosen) & set(defined.hosts) else next(iter(defined.hosts), None)
    parts = list(dict.fromkeys([*chosen, *leaves, *([moves_from] if moves_from else [])]))
    units = tuple(one.model_copy(update={"hosts": tuple(parts)}) if one.name == unit else one for one in config.units)
    hosts = (config.host(name) for name in parts)
    watching = tuple(host.model_copy(update={"units": tuple(dict.fromkeys((*host.units, unit)))}) for host in hosts)
    texts = tuple(rendered(config, unit, name) for name in chosen)
    return Target(config.model_copy(update={"hosts": watching, "units": units}), unit, texts, leaves, moves_from)


async def _run(wanted: Target, options: Options) -> ExitCode:
    overlays = overlay_files(wanted.config, wanted.unit)
    names = [host.name for host in wanted.config.hosts]
    async with looking(wanted.config, names, wanted.unit, options, overlays, ALL_SOURCES) as here:
        missing = await unreached(here.fleet, options.timeout_seconds or DEFAULT_LIMIT_SECONDS)
        if missing or here.code is not ExitCode.OK:
            complain(here.fleet, set(missing) & set(here.seen))
            sys.stderr.write("dflashtui: nothing was changed: not every host can be looked at\n")
            return ExitCode.UNKNOWN
        (sys.stdout if options.dry_run and not options.json else sys.stderr).writelines(
            would_change(wanted.texts, here)
        )
        if options.dry_run:
            return ExitCode.OK
        force = await _allowed(wanted, here, options)
        return ExitCode.FAILED if force is None else await _deployed(wanted, here, overlays, options, force=force)


async def _allowed(wanted: Target, here: Here, options: Options) -> bool | None:
    """Whether it may go on, `True`: in spite of what somebody else changed. `None`: nobody allowed it."""
    unit = wanted.unit
    jobs = [PushJob(here.host(one.host), wanted_text(one.host, unit, one.text, one.origin)) for one in wanted.texts]
    open_doubts = [] if options.force else [words for job in jobs for words in doubts(job, here.seen[job.host.name])]
    if options.yes:
        return options.force
    hosts = [*(one.host for one in wanted.texts), *wanted.leaves]
    snapshots = {name: here.fleet.snapshot(name) for name in here.fleet.names}
    stops = [f"{unit} is stopped on {', '.join(wanted.leaves)} in the end"] if wanted.leaves else []
    asked = change_confirmation(f"dflashtui deploy {unit}", unit, hosts, snapshots, [*open_doubts, *stops])
    if asked.weight is not Weight.HEAVY:
        return options.force
    return (options.force or bool(open_doubts)) if await confirmed(asked) else None


async def _deployed(
    wanted: Target, here: Here, overlays: tuple[OverlayFiles, ...], options: Options, *, force: bool
) -> ExitCode:
    folder = paths.state_folder()
    setting = Setting(
        fleet=here.fleet,
        config=wanted.config,
        audit=Audit(folder),
        evidence=Evidence(folder),
        unit=wanted.unit,
        texts={one.host: one for one in wanted.texts},
        seen=here.seen,
        overlays=overlays,
        force=force,
        arms_undo=options.rollback,
        read_only=options.read_only,
        limit_seconds=options.timeout_seconds,
        preflight=preflight_step(
            here.fleet, wanted.config, wanted.unit, force=options.force, moves_from=wanted.moves_from
        ),
    )
    log = DeployLog(folder, wanted.unit, [host.name for host in here.hosts])
    live = LiveTable(options, [one.host for one in wanted.texts])

    newest: dict[str, HostDeploy] = {}

    def changed(row: HostDeploy) -> None:
        newest[row.host] = row
        log.keep(row)
        live.show(row)

    deploy = Deploy(_plan(wanted, options), RealMeans(setting), changed)
    try:
        with _interrupting(deploy):
            rows = await deploy.run()
    except asyncio.CancelledError:
        _print(tuple(newest.values()), options)
        raise
    finally:
        live.clear()
        log.end()
    _print(rows, options)
    sys.stderr.write(f"dflashtui: {log.problem or f'kept in {log.path}'}\n")
    return exit_code(rows)


def _plan(wanted: Target, options: Options) -> Plan:
    return Plan(
        unit=wanted.unit,
        hosts=tuple(one.host for one in wanted.texts),
        wave=options.wave,
        preflights=not options.no_preflight,
        rolls_back=options.rollback,
        stops_on=wanted.leaves,
    )


@contextmanager
def _interrupting(deploy: Deploy) -> Iterator[None]:
    """Ctrl-C begins nothing more and says how each host was left; a second one ends at once."""
    loop = asyncio.get_running_loop()

    def interrupt() -> None:
        loop.remove_signal_handler(signal.SIGINT)
        sys.stderr.write("\ndflashtui: interrupted: the step that runs is ended; again to leave at once\n")
        deploy.interrupt()

    loop.add_signal_handler(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGINT)


def _print(rows: Sequence[HostDeploy], options: Options) -> None:
    for row in rows:
        if options.json:
            sys.stdout.write(json.dumps(document(row)) + "\n")
        else:
            sys.stdout.writelines(f"{line}\n" for line in lines(row, colour=wants_colour(options)))
    sys.stdout.flush()
