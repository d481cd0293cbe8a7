"""How busy a simulated service is, as its metrics would tell it. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dflashtui.demo.clock import moment
from dflashtui.demo.noise import between, moving
from dflashtui.demo.writing import load
from dflashtui.model.load import Load
from dflashtui.model.service import ServiceState
from dflashtui.model.unit import Readiness

if TYPE_CHECKING:
    from dflashtui.demo.plan import ServicePlan

STEP_SECONDS = 5.0
"""Between two readings."""
MOST_REQUESTS = 24
WITH_METRICS = frozenset({"sglang", "vllm"})
STATES = {
    Readiness.READY: ServiceState.READY,
    Readiness.LOADING: ServiceState.LOADING,
    Readiness.SICK: ServiceState.SICK,
    Readiness.FAILED: ServiceState.FAILED,
}


def figures(plan: ServicePlan, readiness: Readiness, now: float) -> dict[str, Any]:
    """The fields of a unit's status that tell of its service; another program has none."""
    if plan.engine not in WITH_METRICS or readiness not in STATES:
        return {}
    state = {"service": STATES[readiness]}
    if readiness is not Readiness.READY:
        return state
    at = now - now % STEP_SECONDS
    key, share = (plan.host, plan.unit), load(plan, at)
    running = round(share * MOST_REQUESTS)
    length = between(2.4, 5.6, *key, "accept") if plan.engine == "sglang" else None
    speed = running * between(45, 80, *key, "speed") * (0.9 + 0.2 * moving(at, 30, *key))
    return state | {
        "load": Load(
            at=moment(at),
            interval_seconds=STEP_SECONDS,
            running=running,
            queued=max(0, running - MOST_REQUESTS + 4),
            output_tokens_per_second=round(speed, 1),
            kv_use_percent=round(70 * share, 1),
            ttft_p50_ms=round(between(40, 180, *key, "ttft"), 1) if running else None,
            accept_length=None if length is None else round(length, 2),
        )
    }
