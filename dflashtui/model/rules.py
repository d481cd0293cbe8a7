"""What is wrong on a host: one set of rules for the screen and for the check. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflashtui.model.events import failure_in_words
from dflashtui.model.finding import Finding, Level
from dflashtui.model.host import LinkState
from dflashtui.model.rules_service import service_findings
from dflashtui.model.unit import ActiveState, LoadState, Readiness
from dflashtui.text import human_bytes, human_span, times

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from dflashtui.model.finding import Cause
    from dflashtui.model.gpu import Gpu
    from dflashtui.model.host import HostSnapshot
    from dflashtui.model.unit import UnitStatus

ORPHAN_FROM_BYTES = 256 * 2**20
CLOCK_SKEW_SECONDS = 2.0
THERMAL_MARGIN_CELSIUS = 2
SLOWDOWNS = {
    "hw_slowdown": "the hardware slows it down",
    "hw_thermal_slowdown": "it is too hot, the hardware slows it down",
    "sw_thermal_slowdown": "it is too hot, the driver slows it down",
    "hw_power_brake_slowdown": "the power supply slows it down",
}
UNLOADABLE = {
    LoadState.NOT_FOUND: "is not installed on this host",
    LoadState.BAD_SETTING: "has a setting that systemd cannot use",
    LoadState.ERROR: "cannot be loaded",
    LoadState.MASKED: "is masked",
}
SEVERITY = {Level.FAILED: 0, Level.UNKNOWN: 1, Level.WARNING: 2}

_Found = tuple[str, Level, str | None, str]
"""Rule with its thing, level, unit, message."""


def findings(snapshot: HostSnapshot, now: datetime) -> tuple[Finding, ...]:
    """Everything that is not well on one host, worst first, then by unit."""
    found = [*_link(snapshot)]
    if snapshot.link.state in {LinkState.UP, LinkState.NO_SYSTEMD}:
        found += [*_sources(snapshot), *_host(snapshot)]
        causes = {cause.unit: cause for cause in snapshot.causes}
        found += [one for unit in snapshot.units or () for one in _unit(unit, causes.get(unit.name), now)]
        found += [one for gpu in snapshot.gpus or () for one in _gpu(gpu)]
        found += service_findings(snapshot)
    ordered = sorted(found, key=lambda one: (SEVERITY[one[1]], one[2] or "", one[0]))
    return tuple(
        Finding(id=f"{rule}@{snapshot.name}", level=level, host=snapshot.name, unit=unit, message=message)
        for rule, level, unit, message in ordered
    )


def _link(snapshot: HostSnapshot) -> Iterator[_Found]:
    link = snapshot.link
    if link.state is LinkState.CONNECTING:
        yield "connecting", Level.UNKNOWN, None, f"no answer yet ({link.step or 'connecting'})"
    elif link.state is not LinkState.UP:
        yield link.state.value, Level.UNKNOWN, None, link.error or link.state.value


def _sources(snapshot: HostSnapshot) -> Iterator[_Found]:
    for state in snapshot.sources:
        if state.problem and not state.is_absent:
            level = Level.UNKNOWN if state.source in {"units", "gpus"} else Level.WARNING
            yield f"source:{state.source}", level, None, f"{state.source}: {state.problem}"
    if snapshot.link.state is LinkState.UP and snapshot.units is None and not _has_problem(snapshot, "units"):
        yield "source:units", Level.UNKNOWN, None, "units: not read yet"


def _has_problem(snapshot: HostSnapshot, source: str) -> bool:
    return any(state.source == source and state.problem for state in snapshot.sources)


def _host(snapshot: HostSnapshot) -> Iterator[_Found]:
    skew = snapshot.clock_skew_seconds
    if skew is not None and abs(skew) >= CLOCK_SKEW_SECONDS:
        side = "ahead of" if skew > 0 else "behind"
        yield "clock-skew", Level.WARNING, None, f"its clock is {human_span(abs(skew))} {side} this machine's"
    for xid in snapshot.xids:
        yield f"xid:{xid.pci_bus_id}:{xid.xid}", Level.FAILED, None, f"Xid {xid.xid} at {xid.pci_bus_id} {xid.message}"


def _unit(unit: UnitStatus, cause: Cause | None, now: datetime) -> Iterator[_Found]:
    yield from _activity(unit, cause, now)
    yield from _loading_of_file(unit)
    yield from _readiness(unit, now)


def _activity(unit: UnitStatus, cause: Cause | None, now: datetime) -> Iterator[_Found]:
    why = f": {cause.in_words}" if cause else ""
    age = f" {human_span((now - unit.since).total_seconds())} ago" if unit.since else ""
    if unit.is_looping:
        words = f"starts again and again, {times(unit.n_restarts or 0)} so far: {failure_in_words(unit)}{why}"
        yield f"looping:{unit.name}", Level.FAILED, unit.name, words
    elif unit.active_state is ActiveState.FAILED:
        yield f"failed:{unit.name}", Level.FAILED, unit.name, f"{failure_in_words(unit)}{age}{why}"
    elif unit.active_state is ActiveState.INACTIVE and unit.unit_file_state == "enabled":
        yield f"stopped:{unit.name}", Level.WARNING, unit.name, f"is enabled but stopped{age}"


def _loading_of_file(unit: UnitStatus) -> Iterator[_Found]:
    if unit.load_state in UNLOADABLE:
        detail = f": {unit.load_error}" if unit.load_error and unit.load_state is not LoadState.NOT_FOUND else ""
        yield f"load:{unit.name}", Level.WARNING, unit.name, f"{UNLOADABLE[unit.load_state]}{detail}"
    if unit.needs_reload:
        yield f"reload:{unit.name}", Level.WARNING, unit.name, "its file changed on disk: daemon-reload is needed"


def _readiness(unit: UnitStatus, now: datetime) -> Iterator[_Found]:
    detail = f" ({unit.readiness_detail})" if unit.readiness_detail else ""
    age = f" for {human_span((now - unit.started_at).total_seconds())}" if unit.started_at else ""
    match unit.readiness:
        case Readiness.SICK:
            yield f"sick:{unit.name}", Level.WARNING, unit.name, f"is active but does not answer{detail}"
        case Readiness.LOADING:
            yield f"loading:{unit.name}", Level.WARNING, unit.name, f"is active but not ready{age}{detail}"
        case Readiness.UNKNOWN if unit.active_state is ActiveState.ACTIVE:
            yield (
                f"readiness:{unit.name}",
                Level.UNKNOWN,
                unit.name,
                f"is active; whether it answers is unknown{detail}",
            )


def _gpu(gpu: Gpu) -> Iterator[_Found]:
    for rule, level, message in _gpu_faults(gpu):
        yield f"{rule}:{gpu.uuid or gpu.index}", level, None, f"GPU {gpu.index}: {message}"
    for process in gpu.processes or ():
        if process.unit is None and (process.memory_used_bytes or 0) >= ORPHAN_FROM_BYTES:
            holder = f"pid {process.pid}" + (f" ({process.command})" if process.command else "")
            words = f"GPU {gpu.index}: {human_bytes(process.memory_used_bytes)} held by no unit: {holder}"
            yield f"orphan:{gpu.uuid or gpu.index}:{process.pid}", Level.WARNING, None, words


def _gpu_faults(gpu: Gpu) -> Iterator[tuple[str, Level, str]]:
    if gpu.lost:
        yield "gpu-lost", Level.FAILED, f"lost: {gpu.lost}"
    if gpu.remapped_rows_failed:
        yield "gpu-remap", Level.FAILED, "a memory row could not be remapped: the card must be replaced"
    elif gpu.remapped_rows_pending:
        yield "gpu-remap", Level.WARNING, "a memory row waits to be remapped: the GPU must be reset"
    if gpu.ecc_uncorrected_count:
        yield (
            "gpu-ecc",
            Level.FAILED,
            f"{gpu.ecc_uncorrected_count} uncorrected memory errors since the driver was loaded",
        )
    for reason in gpu.clocks_event_reasons:
        if reason in SLOWDOWNS:
            yield f"gpu-{reason}", Level.WARNING, SLOWDOWNS[reason]
    limit = gpu.temperature_slowdown_celsius
    if limit and gpu.temperature_celsius is not None and gpu.temperature_celsius >= limit - THERMAL_MARGIN_CELSIUS:
        yield "gpu-hot", Level.WARNING, f"{gpu.temperature_celsius} °C, it slows down at {limit} °C"
