"""Which glyph, word and role a state has (console conventions, part 4). Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from dflashtui.model.host import LinkState
from dflashtui.model.service import ServiceState
from dflashtui.model.unit import ActiveState, LoadState, Readiness
from dflashtui.text import human_span, printable
from dflashtui.tui.gpu_health import gpu_faults, gpu_warnings

if TYPE_CHECKING:
    from datetime import datetime

    from dflashtui.model.gpu import Gpu
    from dflashtui.model.host import Link
    from dflashtui.model.unit import UnitStatus

CONNECT_PATIENCE_SECONDS = 5
"""After so long a row that still connects says which step it waits for."""
SIGNAL_EXIT_BASE = 128
"""A process killed by signal N is told as exit status 128 + N, as shells do."""
DUMPED = 3
KILLED = 2

LINKS = {
    LinkState.UP: ("●", "up", "ok"),
    LinkState.UNREACHABLE: ("⊘", "no contact", "stale"),
    LinkState.AUTH_FAILED: ("×", "login refused", "bad"),
    LinkState.HOSTKEY_CHANGED: ("×", "host key changed", "bad"),
    LinkState.HOSTKEY_UNKNOWN: ("◌", "host key unknown", "warn"),
    LinkState.NO_SYSTEMD: ("◌", "no systemd", "warn"),
    LinkState.MISCONFIGURED: ("◌", "misconfigured", "warn"),
}


class State(NamedTuple):
    """How a state is shown: colour only repeats what glyph and word say."""

    glyph: str
    word: str
    role: str
    rank: int
    """0 is worst: the order when a list is sorted by state."""


def _state(glyph: str, word: str, role: str) -> State:
    order = ("bad", "warn", "stale", "busy", "ok", "ok dim", "off")
    return State(glyph, word, role, order.index(role))


def unit_state(unit: UnitStatus, now: datetime) -> State:
    """The state of a unit, worst truth first."""
    if unit.is_looping:
        count = f" {unit.n_restarts}×" if unit.n_restarts else ""
        return _state("▲", f"looping{count}", "bad")
    match unit.active_state:
        case ActiveState.FAILED:
            return _state("×", f"failed{failure_in_brackets(unit)}", "bad")
        case ActiveState.ACTIVE:
            return _active(unit, now)
        case ActiveState.INACTIVE:
            return _inactive(unit)
        case state:
            return _moving(unit, state, now)


def _inactive(unit: UnitStatus) -> State:
    if unit.load_state not in {LoadState.LOADED, LoadState.UNKNOWN, LoadState.STUB}:
        return _state("◌", unit.load_state.value.replace("-", " "), "warn")
    if unit.service is ServiceState.UNEXPECTED_EXIT:
        return _state("×", "ended by itself", "bad")
    return _state("○", "inactive", "off")


def _moving(unit: UnitStatus, state: ActiveState, now: datetime) -> State:
    match state:
        case ActiveState.ACTIVATING:
            word = "loading" if unit.readiness is Readiness.LOADING else "starting"
            return _state("◐", f"{word}{_age(unit.started_at or unit.since, now)}", "busy")
        case ActiveState.DEACTIVATING:
            return _state("◐", f"stopping{_age(unit.since, now)}", "busy")
        case ActiveState.RELOADING | ActiveState.REFRESHING:
            return _state("↻", state.value, "busy")
        case ActiveState.MAINTENANCE:
            return _state("▲", "maintenance", "warn")
        case _:
            return _state("◌", "unknown", "warn")


SERVICES = {
    ServiceState.PROVEN: ("●", "proven", "ok"),
    ServiceState.HUNG: ("▲", "hung", "bad"),
    ServiceState.DEGRADED: ("▲", "degraded", "warn"),
    ServiceState.UNAUTHORISED: ("▲", "up, locked", "warn"),
    ServiceState.WRONG_SERVICE: ("▲", "wrong service", "bad"),
}
"""What is said instead of the readiness."""


def _active(unit: UnitStatus, now: datetime) -> State:
    if unit.service in SERVICES:
        return _state(*SERVICES[unit.service])
    match unit.readiness:
        case Readiness.READY:
            return _state("●", "ready", "ok")
        case Readiness.LOADING:
            word = "warming" if unit.service is ServiceState.WARMING else "loading"
            return _state("◐", f"{word}{_age(unit.started_at or unit.since, now)}", "busy")
        case Readiness.SICK:
            return _state("▲", "sick", "warn")
        case Readiness.FAILED:
            return _state("▲", "not answering", "warn")
        case _:
            word = "exited" if unit.sub_state == "exited" else "active"
            return _state("●", word, "ok dim")


def failure_in_brackets(unit: UnitStatus) -> str:
    """` (1)`, ` (137, killed)`, ` (oom-kill)`, ` (timeout)`; empty when nothing is known."""
    status = unit.exec_main_status
    killed = {KILLED: "killed", DUMPED: "core dumped"}.get(unit.exec_main_code or 0)
    if unit.result not in {None, "exit-code", "signal", "core-dump", "success"}:
        return f" ({printable(unit.result or '', limit=40)})"
    if killed and status is not None:
        return f" ({SIGNAL_EXIT_BASE + status}, {killed})"
    return f" ({status})" if status else ""


def _age(since: datetime | None, now: datetime) -> str:
    return f" {human_span((now - since).total_seconds())}" if since else ""


def link_state(link: Link, now: datetime) -> State:
    """The state of the way to a host; a host that only connects says its step after five seconds."""
    if link.state is LinkState.CONNECTING:
        return _state("◐", _connecting(link, now), "busy")
    glyph, word, role = LINKS[link.state]
    return _state(glyph, word + (_age(link.since, now) if link.state is LinkState.UNREACHABLE else ""), role)


def _connecting(link: Link, now: datetime) -> str:
    waited = (now - link.since).total_seconds() if link.since else 0.0
    if waited < CONNECT_PATIENCE_SECONDS:
        return "connecting"
    return f"{printable(link.step or 'connecting', limit=24)} {human_span(waited)}"


def gpu_state(gpu: Gpu) -> State:
    """The health of a GPU; memory in use is not an alarm."""
    if gpu.lost:
        return _state("×", "lost", "bad")
    if faults := gpu_faults(gpu):
        return _state("×", faults[0], "bad")
    if warnings := gpu_warnings(gpu):
        return _state("▲", warnings[0], "warn")
    if gpu.processes is None and gpu.utilization_percent is None:
        return _state("◌", "unknown", "warn")
    if gpu.processes == () and not gpu.utilization_percent:
        return _state("○", "idle", "off")
    return _state("●", "in use", "ok")
