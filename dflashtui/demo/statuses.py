"""A simulated service as its manager would tell it. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflashtui.demo.clock import moment
from dflashtui.demo.figures import figures
from dflashtui.demo.noise import between, moving
from dflashtui.demo.plan import GIB, Behaviour
from dflashtui.demo.service import NEVER_RESTARTED
from dflashtui.demo.writing import load, phase
from dflashtui.model.unit import ActiveState, LoadState, Readiness, UnitStatus

if TYPE_CHECKING:
    from dflashtui.demo.plan import ServicePlan
    from dflashtui.demo.run import Run
    from dflashtui.demo.service import Service

HEALTH = {"sglang": "/health", "vllm": "/health"}


def status(service: Service, now: float) -> UnitStatus:
    """All properties of the unit at one moment."""
    state, run, last, plan = service.state, service.run, service.last_run, service.plan
    readiness, detail = _readiness(service, run, now)
    return UnitStatus(
        name=plan.unit,
        load_state=LoadState.MASKED if state.is_masked else LoadState.LOADED,
        active_state=state.active_state,
        sub_state=state.sub_state,
        description=plan.description,
        result=state.result,
        unit_file_state="masked" if state.is_masked else state.unit_file_state,
        fragment_path=f"/etc/systemd/system/{plan.unit}",
        main_pid=run.pid if run else None,
        invocation_id=last.invocation_id if last else None,
        n_restarts=state.n_restarts,
        exec_main_code=state.exec_main_code,
        exec_main_status=state.exec_main_status,
        since=moment(state.since),
        started_at=moment(last.started) if last else None,
        needs_reload=False,
        type="simple",
        restart="no" if plan.behaviour in NEVER_RESTARTED else "on-failure",
        exited_at=None if run or state.exited is None else moment(state.exited),
        can_start=not state.is_masked,
        can_stop=True,
        can_reload=can_reload(plan),
        transient=False,
        next_restart_at=None if state.next_restart is None else moment(state.next_restart),
        readiness=readiness,
        readiness_detail=detail,
        readiness_at=moment(now) if detail else None,
        control_group=f"/system.slice/{plan.unit}" if run else None,
        **figures(plan, readiness, now),
        **_use(service, run, now),
    )


def can_reload(plan: ServicePlan) -> bool:
    """Whether its unit has an `ExecReload=`: engines cannot, the wrapper can."""
    return plan.engine not in HEALTH


def _use(service: Service, run: Run | None, now: float) -> dict[str, float | None]:
    if run is None:
        return {}
    key = (service.plan.host, service.plan.unit)
    age = max(0.0, now - run.started)
    cores = 1.0 if age < run.load_seconds else 0.2 + 1.4 * load(service.plan, now)
    return {
        "memory_current_bytes": int(min(1.0, age / run.load_seconds) * between(6, 24, *key) * GIB),
        "cpu_percent": round(100 * cores * (0.9 + 0.2 * moving(now, 5, *key)), 1),
        "cpu_usage_nsec": int(age * 0.8 * 1e9),
        "tasks_current": int(between(60, 240, *key)),
    }


def _readiness(service: Service, run: Run | None, now: float) -> tuple[Readiness, str | None]:
    path = HEALTH.get(service.plan.engine, "/v1/models")
    if run is None or service.state.active_state not in {ActiveState.ACTIVE, ActiveState.RELOADING}:
        return _without_run(service.state.active_state), None
    if run.behaviour is Behaviour.IS_SICK and now >= run.ready_at:
        return Readiness.SICK, f"GET {path}: no answer within 5 s"
    if now >= run.ready_at:
        return Readiness.READY, f"GET {path} 200"
    return Readiness.LOADING, phase(service.plan.engine, (now - run.started) / run.load_seconds)


def _without_run(active_state: ActiveState) -> Readiness:
    """What the manager's word alone settles: a service that waits for its next start has failed."""
    has_failed = active_state in {ActiveState.FAILED, ActiveState.ACTIVATING}
    return Readiness.FAILED if has_failed else Readiness.NONE
