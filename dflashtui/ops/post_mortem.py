"""All that can be known of a run that failed, from its own journal: also for one that ended before anybody looked."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dflashtui.errors import DflashError
from dflashtui.mask import masked
from dflashtui.model.events import failure_in_words
from dflashtui.model.failed_run import FailedRun, LogLine
from dflashtui.model.journal import JournalEntry
from dflashtui.ops.before import is_alive
from dflashtui.ops.excerpt import excerpt, lines_of
from dflashtui.ops.failed_runs import without_secrets
from dflashtui.ops.neighbours import Neighbours, neighbours_of
from dflashtui.ops.probe_facts import exit_of
from dflashtui.ops.probe_log import RunLog
from dflashtui.ops.remedy_gpu import gpus_of_unit, memory_lines

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from dflashtui.config.model import Config
    from dflashtui.fleet.base import Fleet
    from dflashtui.model.gpu import Gpu, Xid
    from dflashtui.model.host import HostSnapshot
    from dflashtui.model.journal import JournalItem
    from dflashtui.model.probe import ProbeResult
    from dflashtui.model.unit import UnitStatus
    from dflashtui.ops.before import GpusBefore
    from dflashtui.ops.failed_runs import FailedRuns

HISTORY_LINES = 5000
LOOK_BACK_LINES = 2000
MOST_CHANGES = 20
MOST_GPUS = 4
"""Shown where nobody knows which ones are the unit's."""


@dataclass(frozen=True, slots=True)
class Found:
    """The run, and the faults of its GPUs for the remedies."""

    run: FailedRun
    xids: tuple[Xid, ...] = ()


async def post_mortem(
    fleet: Fleet,
    config: Config,
    kept: FailedRuns,
    host: str,
    unit: str,
    *,
    run_id: str | None = None,
    before: GpusBefore | None = None,
) -> Found:
    """Read the last failed run, or the run `run_id`, and keep it. Trouble is said in `problem`, never raised."""
    reading = await _read(fleet, host, unit, run_id)
    snapshot = fleet.snapshot(host)
    ended_at = (reading.ended.exited_at if reading.ended else None) or _last_at(reading.items)
    by_sudo = config.host(host).become == "sudo"
    near = await neighbours_of(fleet, host, ended_at, by_sudo=by_sudo) if ended_at else Neighbours()
    defined = config.unit(unit)
    gpus = _gpus(snapshot, before, unit, reading.run_id, defined.gpus if defined else ())
    run = _told(host, unit, defined.engine if defined else None, reading, near, gpus)
    more = {
        "ended_at": ended_at,
        "neighbours": near.words(snapshot),
        **_gpus_before(before, snapshot, unit, reading.run_id, gpus),
        **await _unit_changes(fleet, kept, host, unit),
    }
    whole = run.model_copy(update=more)
    is_failure = run.cause is not None or run.result not in {None, "success"}
    return Found(kept.keep(whole) if is_failure else without_secrets(whole), near.xids)


@dataclass(frozen=True, slots=True)
class _Reading:
    """The journal of a run, and the manager's word about it."""

    run_id: str | None
    items: tuple[JournalItem, ...] = ()
    ended: UnitStatus | None = None
    """The unit, if this run is its newest and has ended."""
    problem: str | None = None


async def _read(fleet: Fleet, host: str, unit: str, run_id: str | None) -> _Reading:
    status = fleet.snapshot(host).unit(unit)
    try:
        run_id = run_id or await _failed_run_id(fleet, host, unit, status)
        items = await fleet.history(host, unit, lines=HISTORY_LINES, invocation_id=run_id) if run_id else ()
    except DflashError as failure:
        known = run_id or (status.invocation_id if status else None)
        return _Reading(known, (), _ended(status, known), f"its journal cannot be read: {failure}")
    problem = None if run_id else "no run of it is in the journal"
    return _Reading(run_id, items, _ended(status, run_id), problem)


def _ended(status: UnitStatus | None, run_id: str | None) -> UnitStatus | None:
    is_it = status is not None and status.invocation_id == run_id and not is_alive(status)
    return status if is_it else None


async def _failed_run_id(fleet: Fleet, host: str, unit: str, status: UnitStatus | None) -> str | None:
    """The newest run that has ended."""
    if status and status.invocation_id and not is_alive(status):
        return status.invocation_id
    living = status.invocation_id if status else None
    for item in reversed(await fleet.history(host, unit, lines=LOOK_BACK_LINES)):
        if isinstance(item, JournalEntry) and item.invocation_id and item.invocation_id != living:
            return item.invocation_id
    return None


def _last_at(items: Sequence[JournalItem]) -> datetime | None:
    return items[-1].at if items else None


def _told(
    host: str, unit: str, engine: str | None, reading: _Reading, near: Neighbours, gpus: Sequence[Gpu]
) -> FailedRun:
    log = RunLog(host, engine)
    log.catch_up(reading.items)
    for entry in near.of_run(unit, log.pids, [gpu.pci_bus_id for gpu in gpus if gpu.pci_bus_id]):
        log.from_kernel(entry.message, entry.at)
    ended = reading.ended
    cause, others = log.concluded(ended)
    lines = lines_of(reading.items)
    exit_code, signal = exit_of(ended)
    return FailedRun(
        host=host,
        unit=unit,
        invocation_id=reading.run_id,
        words=_how(ended),
        result=ended.result if ended else None,
        exit_code=exit_code,
        signal=signal,
        started_at=(ended.started_at if ended else None) or (reading.items[0].at if reading.items else None),
        n_restarts=ended.n_restarts if ended else None,
        cause=cause,
        others=others,
        lines=excerpt(lines, cause),
        line_count=len(lines),
        problem=reading.problem,
    )


def _how(ended: UnitStatus | None) -> str:
    if ended is None:
        return ""
    return "it ended, and systemd calls that a success" if ended.result == "success" else failure_in_words(ended)


def _gpus(
    snapshot: HostSnapshot, before: GpusBefore | None, unit: str, run_id: str | None, meant: Sequence[int | str]
) -> tuple[Gpu, ...]:
    """The GPUs that the run used, as they were last seen while it lived, else as they are now; none if nobody knows."""
    known, _ = before.of(snapshot.name, unit, run_id) if before else ((), None)
    everything = known or snapshot.gpus or ()
    mine = gpus_of_unit(snapshot.model_copy(update={"gpus": everything}), unit, meant, None)
    return mine if len(mine) < len(everything) or len(everything) == 1 else ()


def _gpus_before(
    before: GpusBefore | None, snapshot: HostSnapshot, unit: str, run_id: str | None, mine: Sequence[Gpu]
) -> dict[str, object]:
    gpus, at = before.of(snapshot.name, unit, run_id) if before else ((), None)
    shown = mine or [gpu for gpu in gpus if gpu.processes][:MOST_GPUS]
    return {"gpus_before": memory_lines(shown) if gpus else (), "gpus_before_at": at}


async def _unit_changes(fleet: Fleet, kept: FailedRuns, host: str, unit: str) -> dict[str, object]:
    """What changed in the unit file since the last good start that is known."""
    good = kept.good_text(host, unit)
    if good is None:
        return {}
    try:
        now = masked(await fleet.unit_file(host, unit))
    except DflashError:
        return {"good_start_at": good.at}
    difference = difflib.unified_diff(good.text.splitlines(), now.splitlines(), lineterm="", n=0)
    changed = [line for line in difference if line[:1] in {"+", "-"} and line[:3] not in {"+++", "---"}]
    return {"good_start_at": good.at, "unit_changes": tuple(changed[:MOST_CHANGES])}


def of_probe(result: ProbeResult, status: UnitStatus | None) -> FailedRun:
    """What a probe knows of a run at once; the journal tells the rest."""
    ended = _ended(status, result.invocation_id)
    lines = tuple(LogLine(text=text) for text in result.lines)
    run = FailedRun(
        host=result.host,
        unit=result.unit,
        invocation_id=result.invocation_id,
        words=result.words,
        result=ended.result if ended else None,
        exit_code=result.exit_code,
        signal=result.signal,
        started_at=ended.started_at if ended else None,
        ended_at=ended.exited_at if ended else None,
        n_restarts=ended.n_restarts if ended else None,
        cause=result.cause,
        others=result.others,
        lines=excerpt(lines, result.cause),
        line_count=len(lines),
        neighbours=result.neighbours,
    )
    return without_secrets(run)
