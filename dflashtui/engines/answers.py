"""What a service's answers mean: ready, loading, sick. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from dflashtui.model.service import ServiceState
from dflashtui.model.unit import ActiveState, Readiness

if TYPE_CHECKING:
    from dflashtui.model.unit import UnitStatus

FAILURES_UNTIL_SICK = 2
FIRST_DEAF_ROUND, DEAF_ROUNDS = 5, 20
LOADING_POLL_SECONDS = (0.2, 0.2, 0.4, 0.4, 0.8, 1.0, 2.0, 3.0, 5.0)
"""A small server is up within a second; a question that is refused costs nobody."""
READY_POLL_SECONDS = 10.0
UNAUTHORISED = {401, 403}
WARMING = 503


@dataclass(frozen=True, slots=True)
class Answer:
    """What one GET gave: a status, or the reason why there is none."""

    url: str
    status: int | None = None
    error: str = ""

    @property
    def is_ok(self) -> bool:
        """Whether the service said yes."""
        return self.status is not None and 200 <= self.status < 300  # noqa: PLR2004 - the class of success

    @property
    def words(self) -> str:
        """`GET /health 503`, `GET /health: connection refused`."""
        path = urlsplit(self.url).path
        return f"GET {path} {self.status}" if self.status else f"GET {path}: {self.error}"


@dataclass(frozen=True, slots=True)
class Asked:
    """What is known of one run of one service."""

    invocation_id: str | None
    readiness: Readiness = Readiness.LOADING
    detail: str | None = None
    confirmed: bool = False
    rounds: int = 0
    failures: int = 0
    hint: ServiceState | None = None
    """What the last answer showed beyond yes and no."""
    elsewhere: str | None = None
    """Where it can be reached instead, in words."""

    @property
    def is_deaf(self) -> bool:
        """Whether it is time to look if it listens elsewhere: it never answered, for some rounds."""
        return not self.confirmed and self.failures % DEAF_ROUNDS == FIRST_DEAF_ROUND

    @property
    def wait_seconds(self) -> float:
        """Until it may be asked again."""
        if self.readiness is Readiness.READY:
            return READY_POLL_SECONDS
        return LOADING_POLL_SECONDS[min(self.rounds, len(LOADING_POLL_SECONDS) - 1)]


def without_asking(unit: UnitStatus, *, has_rule: bool) -> Readiness | None:
    """What the manager's word alone settles; `None`: the service has to be asked."""
    match unit.active_state:
        case ActiveState.FAILED:
            return Readiness.FAILED
        case ActiveState.ACTIVATING if unit.is_looping:
            return Readiness.FAILED
        case ActiveState.ACTIVATING if has_rule:
            return Readiness.LOADING
        case ActiveState.ACTIVE | ActiveState.RELOADING | ActiveState.REFRESHING if has_rule:
            return None
        case ActiveState.UNKNOWN:
            return Readiness.UNKNOWN
        case _:
            return Readiness.NONE


def judged(before: Asked, answer: Answer, *, proof: bool) -> Asked:
    """What one answer means after what was known. Pure."""
    rounds = before.rounds + 1
    if answer.is_ok:
        detail = answer.words if proof else f"{answer.words}, not proven by a completion"
        return replace(
            before, readiness=Readiness.READY, detail=detail, confirmed=True, rounds=rounds, failures=0, hint=None
        )
    if answer.status in UNAUTHORISED:
        detail = f"{answer.words}: it is up and asks for an API key"
        before = replace(before, hint=ServiceState.UNAUTHORISED)
        return replace(before, readiness=Readiness.UNKNOWN, detail=detail, rounds=rounds, failures=0)
    failures = before.failures + 1
    readiness = before.readiness
    if before.confirmed and failures >= FAILURES_UNTIL_SICK:
        readiness = Readiness.SICK
    hint = ServiceState.WARMING if answer.status == WARMING and not before.confirmed else None
    detail = f"{answer.words}; {before.elsewhere}" if before.elsewhere and answer.status is None else answer.words
    return replace(before, readiness=readiness, detail=detail, rounds=rounds, failures=failures, hint=hint)
