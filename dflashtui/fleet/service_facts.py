"""What is known of each service's present run: phase, load, proof, whether somebody stops it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from dflashtui.engines.service_state import RunFacts, evidence, service_state
from dflashtui.model.unit import ActiveState, Readiness

if TYPE_CHECKING:
    from datetime import datetime

    from dflashtui.engines.answers import Asked
    from dflashtui.model.unit import UnitStatus


class ServiceFacts:
    """By unit; what was known of an earlier run goes with it."""

    def __init__(self) -> None:
        self._runs: dict[str, RunFacts] = {}

    def of(self, unit: str, invocation_id: str | None) -> RunFacts:
        """What is known of that run; of another one nothing is."""
        known = self._runs.get(unit)
        return known if known and known.invocation_id == invocation_id else RunFacts(invocation_id)

    def note(self, unit: str, invocation_id: str | None, **facts: Any) -> bool:  # noqa: ANN401 - fields of RunFacts
        """Whether it was new."""
        before = self.of(unit, invocation_id)
        after = replace(before, **facts)
        self._runs[unit] = after
        return after != before

    def saw(self, units: tuple[UnitStatus, ...]) -> None:
        """The manager's word: a run that is seen now may end by itself later."""
        for unit in units:
            if unit.active_state is ActiveState.ACTIVE and unit.invocation_id:
                self.note(unit.name, unit.invocation_id, was_seen_running=True)

    def merged(self, unit: UnitStatus, readiness: Readiness, asked: Asked | None, *, is_server: bool) -> dict[str, Any]:
        """The fields of a unit's status that come of it."""
        if not is_server:
            return {}
        run = self.of(unit.name, unit.invocation_id)
        is_running = unit.active_state in {ActiveState.ACTIVE, ActiveState.ACTIVATING}
        state = service_state(unit, readiness, asked.hint if asked else None, run)
        found: dict[str, Any] = {"service": state}
        if is_running:
            found |= {"load": run.load, "load_problem": run.load_problem}
        if is_running and readiness is Readiness.LOADING:
            found |= {"phase": run.phase, "phase_since": run.phase_since}
        if words := evidence(state, run):
            found |= {"readiness_detail": words, "readiness_at": _at(run, unit)}
        return found


def _at(run: RunFacts, unit: UnitStatus) -> datetime | None:
    if run.proof and run.proven_at:
        return run.proven_at
    return run.load.at if run.load else unit.exited_at
