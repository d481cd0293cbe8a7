"""What is known of a service, folded into one state. Pure (inference-engines, part 3.6)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dflashtui.model.service import ServiceState
from dflashtui.model.unit import ActiveState, LoadState, Readiness

if TYPE_CHECKING:
    from datetime import datetime

    from dflashtui.model.load import Load
    from dflashtui.model.probe import Phase
    from dflashtui.model.unit import UnitStatus

HUNG_SECONDS = 30.0
"""Requests run and no token comes: longer than any prefill of a usual prompt, and beyond two log intervals."""
NO_FILE = frozenset({LoadState.NOT_FOUND, LoadState.BAD_SETTING, LoadState.ERROR, LoadState.MASKED})
RUNNING = frozenset({ActiveState.ACTIVE, ActiveState.RELOADING, ActiveState.REFRESHING})
WARMING_PHASES = frozenset({"http", "warm-up"})


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What is known of one run of a service beside its answers."""

    invocation_id: str | None = None
    phase: Phase | None = None
    phase_since: datetime | None = None
    load: Load | None = None
    load_problem: str | None = None
    """Why there are no figures."""
    was_seen_running: bool = False
    stop_was_asked: bool = False
    proof: str | None = None
    """What a completion of this run proved, in words."""
    proven_at: datetime | None = None


def service_state(unit: UnitStatus, readiness: Readiness, hint: ServiceState | None, run: RunFacts) -> ServiceState:
    """`hint`: what the last answer showed beyond yes and no."""
    if unit.load_state in NO_FILE and unit.active_state is ActiveState.INACTIVE:
        return ServiceState.NOT_INSTALLED
    if unit.is_looping:
        return ServiceState.CRASH_LOOP
    if unit.active_state in RUNNING:
        return _running(readiness, hint, run)
    return _not_running(unit, run)


def _not_running(unit: UnitStatus, run: RunFacts) -> ServiceState:
    match unit.active_state:
        case ActiveState.FAILED:
            return ServiceState.FAILED
        case ActiveState.DEACTIVATING:
            return ServiceState.DRAINING
        case ActiveState.ACTIVATING:
            return ServiceState.LOADING
        case ActiveState.INACTIVE if _ended_by_itself(unit, run):
            return ServiceState.UNEXPECTED_EXIT
        case ActiveState.INACTIVE:
            return ServiceState.STOPPED
        case _:
            return ServiceState.UNKNOWN


def _ended_by_itself(unit: UnitStatus, run: RunFacts) -> bool:
    """Seen running, ended with status 0, and its manager never said that it stops it."""
    is_same = run.was_seen_running and run.invocation_id == unit.invocation_id
    ended_well = (unit.exec_main_code, unit.exec_main_status) == (1, 0)
    return is_same and ended_well and not run.stop_was_asked


def _running(readiness: Readiness, hint: ServiceState | None, run: RunFacts) -> ServiceState:
    if hint is not None:
        return hint
    match readiness:
        case Readiness.READY:
            return _ready(run)
        case Readiness.SICK:
            return ServiceState.SICK
        case Readiness.LOADING:
            is_up = run.phase is not None and run.phase.name in WARMING_PHASES
            return ServiceState.WARMING if is_up else ServiceState.LOADING
        case _:
            return ServiceState.UNKNOWN


def _ready(run: RunFacts) -> ServiceState:
    load = run.load
    if load and load.stalled_seconds is not None and load.stalled_seconds >= HUNG_SECONDS:
        return ServiceState.HUNG
    if load and ((load.cuda_graph is False and load.running) or load.queue_grows):
        return ServiceState.DEGRADED
    return ServiceState.PROVEN if run.proof else ServiceState.READY


def evidence(state: ServiceState, run: RunFacts) -> str | None:
    """Why it is hung, degraded or proven, in words; `None`: its last answer is the evidence."""
    load = run.load
    match state:
        case ServiceState.PROVEN:
            return run.proof
        case ServiceState.HUNG if load:
            return f"{load.running} requests run, and no token came for {load.stalled_seconds:.0f} s"
        case ServiceState.DEGRADED if load and load.cuda_graph is False:
            return "it decodes without CUDA graphs"
        case ServiceState.DEGRADED if load:
            return f"its queue grows: {load.queued} wait, {load.running} run"
        case ServiceState.UNEXPECTED_EXIT:
            return "it ended with status 0 and nobody stopped it"
        case _:
            return None
