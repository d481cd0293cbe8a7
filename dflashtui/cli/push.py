"""`dflashtui push UNIT`: put the unit file on its hosts, verified and whole; no restart."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING

from dflashtui.cli.diff import would_change
from dflashtui.cli.fleets import inventory, warned
from dflashtui.cli.hosts_looked_at import looking
from dflashtui.cli.push_results import carried_out, confirmed_terms, printed
from dflashtui.cli.render import everywhere
from dflashtui.config.match import complete_unit_glob
from dflashtui.exit_code import ExitCode, worst
from dflashtui.ops.overlay import overlay_files
from dflashtui.ops.push import wanted_text
from dflashtui.ops.pushing import PushJob, unchanged

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dflashtui.cli.parser import Options
    from dflashtui.config.model import Config
    from dflashtui.ops.render import Rendered


def run_push(options: Options) -> int:
    """Show the difference, ask by weight, push; one line a host."""
    config = warned(inventory(options))
    unit = complete_unit_glob(options.unit)
    return asyncio.run(_run(config, everywhere(config, unit, options), options))


async def _run(config: Config, texts: Sequence[Rendered], options: Options) -> ExitCode:
    unit = texts[0].unit
    overlays = overlay_files(config, unit)
    async with looking(config, [one.host for one in texts], unit, options, overlays) as here:
        if here.code is not ExitCode.OK and not options.dry_run:
            sys.stderr.write("dflashtui: nothing was pushed: not every host can be looked at\n")
            return here.code
        own = [one for one in texts if one.host in here.seen]
        jobs = [
            PushJob(here.host(one.host), wanted_text(one.host, unit, one.text, one.origin), overlays=overlays)
            for one in own
        ]
        same = [printed(done, options) for job in jobs if (done := unchanged(job, here.seen[job.host.name]))]
        todo = [job for job in jobs if job.host.name not in {done.host for done in same}]
        (sys.stdout if options.dry_run and not options.json else sys.stderr).writelines(would_change(own, here))
        terms = await confirmed_terms(todo, here, options)
        if terms is None:
            return ExitCode.FAILED
        return worst(here.code, await carried_out(todo, terms, here, options))
