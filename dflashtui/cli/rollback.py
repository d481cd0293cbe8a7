"""`dflashtui rollback UNIT`: put back what the last push replaced, or any kept text by its number."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import TYPE_CHECKING

from dflashtui.cli.diff import shown
from dflashtui.cli.fleets import inventory, warned
from dflashtui.cli.hosts_looked_at import looking
from dflashtui.cli.push_results import carried_out, confirmed_terms
from dflashtui.cli.targets import narrowed
from dflashtui.config.match import complete_unit_glob
from dflashtui.errors import ActionRefused, PushRefused
from dflashtui.exit_code import ExitCode, worst
from dflashtui.ops.diff import grouped
from dflashtui.ops.rolling_back import roll_back_from
from dflashtui.text import printable

if TYPE_CHECKING:
    from dflashtui.cli.hosts_looked_at import Here
    from dflashtui.cli.parser import Options
    from dflashtui.config.model import Config
    from dflashtui.model.push import PushRecord, UnitLook
    from dflashtui.ops.diff import UnitDiff
    from dflashtui.ops.pushing import PushJob

SHORT_HASH = 12


def run_rollback(options: Options) -> int:
    """Show the difference, ask by weight, put back; one line a host."""
    unit = complete_unit_glob(options.unit)
    config = narrowed(warned(inventory(options)), unit, options)
    return asyncio.run(_run(config, unit, options))


async def _run(config: Config, unit: str, options: Options) -> ExitCode:
    async with looking(config, [host.name for host in config.hosts], unit, options) as here:
        if options.list:
            for seen in here.seen.values():
                _list(seen.look, options)
            return here.code
        if here.code is not ExitCode.OK and not options.dry_run:
            sys.stderr.write("dflashtui: nothing was put back: not every host can be looked at\n")
            return here.code
        jobs, diffs, code = await _wanted(here, options)
        if code is not ExitCode.OK and not options.dry_run:
            return code
        (sys.stdout if options.dry_run and not options.json else sys.stderr).writelines(shown(grouped(diffs)))
        terms = await confirmed_terms(jobs, here, options)
        if terms is None:
            return ExitCode.FAILED
        return worst(here.code, code, await carried_out(jobs, terms, here, options))


async def _wanted(here: Here, options: Options) -> tuple[list[PushJob], list[UnitDiff], ExitCode]:
    """What goes back on each host; a host where nothing can is told, and the others wait for a person."""
    jobs, diffs, code = [], [], ExitCode.OK
    for host in here.hosts:
        look = here.seen[host.name].look if host.name in here.seen else None
        if look is None:
            continue
        try:
            way = await roll_back_from(here.fleet, host, look, options.to)
        except (ActionRefused, PushRefused) as refused:
            sys.stderr.write(f"dflashtui: {printable(str(refused))}\n")
            code = ExitCode.FAILED
            continue
        jobs.append(way.job)
        if way.diff is not None:
            diffs.append(way.diff)
    return jobs, diffs, code


def _list(look: UnitLook, options: Options) -> None:
    """What is kept, newest first."""
    if look.records is None:
        sys.stderr.write(f"dflashtui: {printable(f'{look.host}: {look.records_trouble}')}\n")
    for record in reversed(look.records or ()):
        if options.json:
            sys.stdout.write(json.dumps(_document(look, record)) + "\n")
        else:
            sys.stdout.write(f"{printable(_words(look, record))}\n")
    if look.records == () and not options.json:
        sys.stdout.write(f"{printable(look.host)}: {look.unit}: nothing is kept: dflashtui has pushed nothing there\n")


def _words(look: UnitLook, record: PushRecord) -> str:
    text = _after(look, record)
    here = "  on disk" if text is not None and text == look.target.sha256 else ""
    what = "removed" if record.files and text is None else (text or "overlays only")[:SHORT_HASH]
    state = "" if record.is_effective else f"  {record.state}"
    undone = f" of {record.undoes}" if record.undoes else ""
    head = f"{look.host}: {record.number:>3}  {record.at:%Y-%m-%d %H:%M:%S}Z"
    return f"{head}  {record.action}{undone}  {what}  {record.who}{state}{here}"


def _after(look: UnitLook, record: PushRecord) -> str | None:
    return next((one.after for one in record.files if one.name == look.unit), None)


def _document(look: UnitLook, record: PushRecord) -> dict[str, object]:
    kept = record.model_dump(mode="json", exclude={"files"})
    return {
        "schema": 1,
        "host": look.host,
        "unit": look.unit,
        **kept,
        "sha256": _after(look, record),
        "on_disk": _after(look, record) == look.target.sha256,
    }
