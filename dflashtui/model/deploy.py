"""What became of a unit on its way to its hosts: steps, host by host."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from dflashtui.model.base import Value
from dflashtui.model.probe import ProbeResult


class Step(StrEnum):
    """In the order in which a host goes through them; the last three are taken only where they are needed."""

    PREFLIGHT = "preflight"
    PUSH = "push"
    RESTART = "restart"
    PROBE = "probe"
    PUT_BACK = "put back"
    PROBE_AGAIN = "probe again"
    STOP_OLD = "stop old"


FORWARD = (Step.PREFLIGHT, Step.PUSH, Step.RESTART, Step.PROBE)


class StepState(StrEnum):
    """How a step stands."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    SKIPPED = "skipped"
    """Nothing to do, or never begun; the words say which."""
    FAILED = "failed"
    LOADING = "loading"
    """A probe whose time ran out while the service still showed signs of life."""
    UNKNOWN = "unknown"
    """Nobody knows what the host has done."""


class StepEnd(Value):
    """How a step ended, or what it is at."""

    state: StepState
    words: str
    lines: tuple[str, ...] = ()
    """What there is to know beyond it: findings, the cause, remedies."""
    probe: ProbeResult | None = None


class StepNews(Value):
    """One step of one host."""

    step: Step
    state: StepState = StepState.WAITING
    words: str = ""
    lines: tuple[str, ...] = ()
    seconds: float | None = None
    """`None`: it has not ended."""


class Outcome(StrEnum):
    """What a host was left with."""

    READY = "ready"
    LOADING = "loading"
    FAILED = "failed"
    PUT_BACK = "put-back"
    """The new text failed; the old one is there again, and its service is ready."""
    STOPPED = "stopped"
    """The host that the unit has left."""
    UNKNOWN = "unknown"
    SKIPPED = "skipped"
    INTERRUPTED = "interrupted"


class HostDeploy(Value):
    """One row of a deployment."""

    host: str
    unit: str
    steps: tuple[StepNews, ...]
    outcome: Outcome | None = None
    """`None`: it goes on."""
    probe: ProbeResult | None = None
    """Of the new text, once it is known."""

    def step(self, step: Step) -> StepNews | None:
        """How that step stands; `None`: it is not part of this row."""
        return next((news for news in self.steps if news.step is step), None)

    def with_step(self, news: StepNews) -> HostDeploy:
        """The row with this step as it stands now."""
        if self.step(news.step) is None:
            return self.model_copy(update={"steps": (*self.steps, news)})
        steps = tuple(news if one.step is news.step else one for one in self.steps)
        return self.model_copy(update={"steps": steps})


class DeployRecord(Value):
    """One deployment, as it is kept in the state folder."""

    unit: str
    who: str
    started_at: datetime
    ended_at: datetime | None = None
    hosts: tuple[HostDeploy, ...] = ()
    """In the order of their waves."""
