"""What pushes, roll-backs and overlays have in common on the command line: the question, the run, the lines."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

from dflashtui import paths
from dflashtui.cli.confirming import confirmed
from dflashtui.exit_code import ExitCode, worst
from dflashtui.mask import masked
from dflashtui.model.action import Weight
from dflashtui.model.push import Outcome
from dflashtui.ops.audit import Audit
from dflashtui.ops.push import Terms, new_change
from dflashtui.ops.pushing import doubts, push_all
from dflashtui.ops.weight import change_confirmation
from dflashtui.text import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dflashtui.cli.hosts_looked_at import Here
    from dflashtui.cli.parser import Options
    from dflashtui.model.push import PushResult
    from dflashtui.ops.pushing import PushJob

EXIT_CODES = {True: ExitCode.OK, False: ExitCode.FAILED, None: ExitCode.UNKNOWN}
LINE_LIMIT = 1 << 16


async def confirmed_terms(jobs: Sequence[PushJob], here: Here, options: Options) -> Terms | None:
    """On which terms it may go on; `None`: nobody allowed it. What somebody else changed needs a word of its own."""
    terms = Terms(dry_run=options.dry_run, force=options.force, change=new_change())
    if options.dry_run or not jobs:
        return terms
    open_doubts = [one for job in jobs for one in doubts(job, here.seen[job.host.name])] if not options.force else []
    if open_doubts and (options.yes or not sys.stdin.isatty()):
        return terms  # each host refuses, and says what to do
    wanted = jobs[0].wanted
    snapshots = {name: here.fleet.snapshot(name) for name in here.fleet.names}
    hosts = [job.host.name for job in jobs]
    asked = change_confirmation(f"dflashtui {wanted.action} {wanted.unit}", wanted.unit, hosts, snapshots, open_doubts)
    if options.yes or asked.weight is not Weight.HEAVY:
        return terms
    return terms.model_copy(update={"force": True}) if await confirmed(asked) else None


async def carried_out(jobs: Sequence[PushJob], terms: Terms, here: Here, options: Options) -> ExitCode:
    """Push, and print each result as it comes."""
    bound = [job._replace(terms=_bound(job, terms, here)) for job in jobs]
    results = push_all(bound, here.fleet, Audit(paths.state_folder()), _tell, read_only=options.read_only)
    return worst(*[EXIT_CODES[printed(result, options).ok] async for result in results])


def _bound(job: PushJob, terms: Terms, here: Here) -> Terms:
    """To what was shown: another text there meanwhile, and it is refused."""
    return terms.model_copy(update={"seen_sha256": here.seen[job.host.name].look.target.sha256})


def _tell(host: str, step: str) -> None:
    if sys.stderr.isatty():
        sys.stderr.write(f"{printable(host)}: {printable(step)}\n")


def printed(result: PushResult, options: Options) -> PushResult:
    """One line on stdout; what should be known besides goes to stderr."""
    if options.json:
        sys.stdout.write(json.dumps(document(result)) + "\n")
        return result
    words = result.message.removeprefix(f"{result.host}: {result.unit}: ")
    number = f" (number {result.number})" if result.number and result.outcome is Outcome.DONE else ""
    line = f"{result.host}: {result.action} {result.unit}: {result.outcome.value}: {words}{number}"
    sys.stdout.write(f"{printable(masked(line), limit=LINE_LIMIT)}  ({result.duration_seconds:.1f} s)\n")
    for note in (*result.notes, *(f"verify: {one}" for one in result.verification)):
        sys.stderr.write(f"dflashtui: {printable(masked(f'{result.host}: {note}'), limit=LINE_LIMIT)}\n")
    return result


def document(result: PushResult) -> dict[str, object]:
    """What a script gets of one host."""
    kept = result.model_dump(mode="json", exclude={"duration_seconds", "verification", "notes", "message"})
    return {
        "schema": 1,
        **kept,
        "ok": result.ok,
        "message": masked(result.message),
        "notes": [masked(one) for one in result.notes],
        "verification": [masked(one) for one in result.verification],
        "duration_s": round(result.duration_seconds, 3),
    }
