"""What happened between two snapshots of a host. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflashtui.model.event import Event, EventKind, Severity
from dflashtui.model.host import LinkState
from dflashtui.model.unit import ActiveState, LoadState, Readiness
from dflashtui.text import times

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from dflashtui.model.gpu import Gpu
    from dflashtui.model.host import HostSnapshot
    from dflashtui.model.unit import UnitStatus

ACTIVE_WORDS = {
    ActiveState.ACTIVE: (Severity.OK, "started"),
    ActiveState.INACTIVE: (Severity.WARN, "stopped"),
    ActiveState.DEACTIVATING: (Severity.BUSY, "stopping"),
    ActiveState.RELOADING: (Severity.BUSY, "reloading"),
    ActiveState.REFRESHING: (Severity.BUSY, "refreshing"),
    ActiveState.MAINTENANCE: (Severity.WARN, "in maintenance"),
}
READINESS_WORDS = {
    Readiness.READY: (Severity.OK, "ready"),
    Readiness.SICK: (Severity.WARN, "not answering"),
}


def events_between(before: HostSnapshot, after: HostSnapshot, at: datetime) -> tuple[Event, ...]:
    """The events that lead from one snapshot to the next; a unit seen failed for the first time is one too."""
    found = [
        *_link_events(before, after),
        *_unit_events(before, after),
        *_gpu_events(before.gpus or (), after.gpus or ()),
        *_xid_events(before, after),
    ]
    return tuple(
        Event(at=at, kind=kind, severity=severity, host=after.name, unit=unit, message=message)
        for kind, severity, unit, message in found
    )


_Found = tuple[EventKind, Severity, str | None, str]


def _link_events(before: HostSnapshot, after: HostSnapshot) -> Iterator[_Found]:
    was, now = before.link.state, after.link.state
    if was is now:
        return
    if now is LinkState.UP:
        version = f" · systemd {after.systemd_version}" if after.systemd_version else ""
        yield EventKind.LINK, Severity.OK, None, f"connected{version}"
    elif now is not LinkState.CONNECTING:
        yield EventKind.LINK, Severity.BAD, None, f"{now.value}: {after.link.error or 'no reason was given'}"


def _unit_events(before: HostSnapshot, after: HostSnapshot) -> Iterator[_Found]:
    known = {unit.name: unit for unit in before.units or ()}
    for unit in after.units or ():
        if before.units is None or unit.name not in known:
            yield from _first_sight(unit)
        elif known[unit.name] != unit:
            yield from ((EventKind.UNIT, *found) for found in _unit_changes(known[unit.name], unit))


def _first_sight(unit: UnitStatus) -> Iterator[_Found]:
    if unit.active_state is ActiveState.FAILED:
        yield EventKind.UNIT, Severity.BAD, unit.name, failure_in_words(unit)
    elif unit.load_state in {LoadState.BAD_SETTING, LoadState.ERROR}:
        yield EventKind.UNIT, Severity.WARN, unit.name, f"cannot be loaded: {unit.load_error or unit.load_state.value}"


def _unit_changes(was: UnitStatus, now: UnitStatus) -> Iterator[tuple[Severity, str, str]]:
    if (was.n_restarts or 0) < (now.n_restarts or 0):
        count = times(now.n_restarts or 0)
        yield Severity.BAD, now.name, f"restarted by systemd, {count} so far · {failure_in_words(was)}"
    if was.active_state is not now.active_state:
        yield from _activity(now)
    elif was.invocation_id and now.invocation_id and was.invocation_id != now.invocation_id:
        yield Severity.BUSY, now.name, "started anew"
    if was.readiness is not now.readiness and now.readiness in READINESS_WORDS:
        severity, word = READINESS_WORDS[now.readiness]
        yield severity, now.name, f"{word} · {now.readiness_detail}" if now.readiness_detail else word
    if now.needs_reload and not was.needs_reload:
        yield Severity.WARN, now.name, "its unit file changed on disk: daemon-reload is needed"


def _activity(now: UnitStatus) -> Iterator[tuple[Severity, str, str]]:
    match now.active_state:
        case ActiveState.FAILED:
            yield Severity.BAD, now.name, failure_in_words(now)
        case ActiveState.ACTIVATING if now.is_looping:
            yield Severity.BAD, now.name, f"waits for its next start · {failure_in_words(now)}"
        case ActiveState.ACTIVATING:
            yield Severity.BUSY, now.name, "starting"
        case state if state in ACTIVE_WORDS:
            severity, word = ACTIVE_WORDS[state]
            yield severity, now.name, word
        case _:
            yield Severity.WARN, now.name, f"is {now.active_state.value} ({now.sub_state})"


def failure_in_words(unit: UnitStatus) -> str:
    """`failed (exit-code, status 1)`, `failed (signal 9)`, `failed (oom-kill)`."""
    result = unit.result or "no result"
    match unit.exec_main_code, unit.exec_main_status:
        case 1, int(status) if status:
            return f"failed ({result}, status {status})"
        case ((2 | 3), int(signal)):
            return f"failed ({result}, signal {signal})"
        case _:
            return f"failed ({result})"


def _gpu_events(before: tuple[Gpu, ...], after: tuple[Gpu, ...]) -> Iterator[_Found]:
    lost = {gpu.index for gpu in before if gpu.lost}
    for gpu in after:
        if gpu.lost and gpu.index not in lost:
            yield EventKind.GPU, Severity.BAD, None, f"GPU {gpu.index} is lost: {gpu.lost}"
        elif not gpu.lost and gpu.index in lost:
            yield EventKind.GPU, Severity.OK, None, f"GPU {gpu.index} answers again"


def _xid_events(before: HostSnapshot, after: HostSnapshot) -> Iterator[_Found]:
    index = {gpu.pci_bus_id: gpu.index for gpu in after.gpus or ()}
    for xid in after.xids:
        if xid not in before.xids:
            where = f"GPU {index[xid.pci_bus_id]}" if xid.pci_bus_id in index else f"GPU at {xid.pci_bus_id}"
            yield EventKind.GPU, Severity.BAD, None, f"{where}: Xid {xid.xid} {xid.message}".rstrip()
