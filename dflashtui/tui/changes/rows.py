"""Pushes as rows of a result. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflashtui.model.deploy import HostDeploy, Outcome, StepNews, StepState
from dflashtui.tui.changes.words import PUSH_STATES, push_words

if TYPE_CHECKING:
    from dflashtui.model.deploy import Step
    from dflashtui.model.push import PushResult

OUTCOMES = {
    StepState.DONE: Outcome.READY,
    StepState.SKIPPED: Outcome.SKIPPED,
    StepState.UNKNOWN: Outcome.UNKNOWN,
}


def under_way(host: str, unit: str, step: Step, at: str) -> HostDeploy:
    """A host whose push is at some step of its own."""
    return HostDeploy(host=host, unit=unit, steps=(StepNews(step=step, state=StepState.RUNNING, words=at),))


def finished(result: PushResult, step: Step) -> HostDeploy:
    """A host whose push has ended."""
    state = PUSH_STATES.get(result.outcome, StepState.FAILED)
    verified = tuple(f"verify: {one}" for one in result.verification)
    news = StepNews(
        step=step,
        state=state,
        words=push_words(result),
        lines=(*result.notes, *verified),
        seconds=result.duration_seconds,
    )
    return HostDeploy(host=result.host, unit=result.unit, steps=(news,), outcome=OUTCOMES.get(state, Outcome.FAILED))
