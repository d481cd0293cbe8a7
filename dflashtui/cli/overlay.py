"""`dflashtui overlay status|push|restore UNIT`: files laid over an installed package."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import TYPE_CHECKING

from dflashtui.cli.fleets import inventory, warned
from dflashtui.cli.hosts_looked_at import looking
from dflashtui.cli.push_results import carried_out, confirmed_terms
from dflashtui.cli.targets import narrowed
from dflashtui.config.match import complete_unit_glob
from dflashtui.errors import ConfigError
from dflashtui.exit_code import ExitCode, worst
from dflashtui.ops.overlay import overlay_files, overlay_notes, overlay_refusals
from dflashtui.ops.push import Wanted
from dflashtui.ops.pushing import PushJob
from dflashtui.text import printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dflashtui.cli.hosts_looked_at import Here
    from dflashtui.cli.parser import Options
    from dflashtui.config.model import Config
    from dflashtui.model.overlay import OverlayLook


def run_overlay(options: Options) -> int:
    """Show how each file stands; for a push or a restore ask by weight, and carry it out."""
    unit = complete_unit_glob(options.unit)
    config = narrowed(warned(inventory(options)), unit, options)
    return asyncio.run(_run(config, unit, options))


async def _run(config: Config, unit: str, options: Options) -> ExitCode:
    overlays = overlay_files(config, unit)
    if not overlays:
        raise ConfigError([f'[units."{unit}"] has no overlays: add [[units."{unit}".overlays]]'])
    async with looking(config, [host.name for host in config.hosts], unit, options, overlays) as here:
        looks = [look for seen in here.seen.values() for look in seen.overlays]
        if options.step == "status" or options.dry_run:
            _tell(looks, options)
        if options.step == "status":
            return worst(here.code, *(ExitCode.WARNING for look in looks if look.changed or look.is_reinstalled))
        if here.code is not ExitCode.OK and not options.dry_run:
            sys.stderr.write("dflashtui: nothing was changed: not every host can be looked at\n")
            return here.code
        action = "overlay push" if options.step == "push" else "overlay restore"
        jobs = [PushJob(here.host(name), _wanted(name, unit, action), overlays=overlays) for name in here.seen]
        return worst(here.code, await _carried_out(jobs, here, options))


async def _carried_out(jobs: list[PushJob], here: Here, options: Options) -> ExitCode:
    terms = await confirmed_terms(jobs, here, options)
    return ExitCode.FAILED if terms is None else await carried_out(jobs, terms, here, options)


def _wanted(host: str, unit: str, action: str) -> Wanted:
    return Wanted(host=host, unit=unit, action=action, has_file=False, restores=action == "overlay restore")


def _tell(looks: list[OverlayLook], options: Options) -> None:
    for look in looks:
        if options.json:
            sys.stdout.write(json.dumps(_document(look)) + "\n")
        else:
            sys.stdout.writelines(f"{printable(line)}\n" for line in _lines(look))


def _lines(look: OverlayLook) -> Iterator[str]:
    version = f"{look.package} {look.version or '(version unknown)'}"
    yield f"{look.host}: {look.source} over {look.folder} ({version})"
    for one in look.files:
        yield f"{look.host}:   {one.state.value:<9} {one.name}"
    for words in (*overlay_refusals(look), *overlay_notes(look)):
        yield f"{look.host}:   {words}"


def _document(look: OverlayLook) -> dict[str, object]:
    return {"schema": 1, **look.model_dump(mode="json"), "is_reinstalled": look.is_reinstalled}
