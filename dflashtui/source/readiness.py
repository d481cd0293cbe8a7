"""Whether a service answers: one step of asking, and what the answers mean."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import httpx

from dflashtui.model.unit import ActiveState, Readiness
from dflashtui.text import printable

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from dflashtui.engines.readiness import ReadinessRule
    from dflashtui.model.unit import UnitStatus

POLL_LIMIT_SECONDS = 5.0
CONFIRM_LIMIT_SECONDS = 25.0
"""SGLang's own /health may take 20 s."""
BODY_LIMIT_BYTES = 64 * 1024
FAILURES_UNTIL_SICK = 2
LOADING_POLL_SECONDS = (1.0, 2.0, 3.0, 5.0)
READY_POLL_SECONDS = 10.0
UNAUTHORISED = {401, 403}


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
        path = httpx.URL(self.url).path
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


async def ask(
    client: httpx.AsyncClient,
    rule: ReadinessRule,
    before: Asked,
    foreign: Callable[[], Awaitable[str | None]] | None = None,
) -> Asked:
    """One round: the cheap question, and the costly one only until it was once answered in this run.

    `foreign`: asked once the port first answers; who it is, in words, if not this unit.
    """
    poll = await _get(client, rule.poll, POLL_LIMIT_SECONDS)
    if poll.is_ok and foreign and not before.confirmed and (other := await foreign()):
        return replace(before, detail=f"{poll.words}, but {other}", rounds=before.rounds + 1, failures=0)
    if not poll.is_ok or rule.confirm is None or before.confirmed:
        return judged(before, poll, proof=rule.is_proof)
    return judged(before, await _get(client, rule.confirm, CONFIRM_LIMIT_SECONDS), proof=True)


def judged(before: Asked, answer: Answer, *, proof: bool) -> Asked:
    """What one answer means after what was known. Pure."""
    rounds = before.rounds + 1
    if answer.is_ok:
        detail = answer.words if proof else f"{answer.words}, not proven by a completion"
        return replace(before, readiness=Readiness.READY, detail=detail, confirmed=True, rounds=rounds, failures=0)
    if answer.status in UNAUTHORISED:
        detail = f"{answer.words}: it is up and asks for an API key"
        return replace(before, readiness=Readiness.UNKNOWN, detail=detail, rounds=rounds, failures=0)
    failures = before.failures + 1
    readiness = before.readiness
    if before.confirmed and failures >= FAILURES_UNTIL_SICK:
        readiness = Readiness.SICK
    return replace(before, readiness=readiness, detail=answer.words, rounds=rounds, failures=failures)


async def _get(client: httpx.AsyncClient, url: str, limit_seconds: float) -> Answer:
    """One bounded GET: no redirect is followed, no proxy is used, at most 64 KiB are read."""
    try:
        async with asyncio.timeout(limit_seconds), client.stream("GET", url, follow_redirects=False) as response:
            read = 0
            async for chunk in response.aiter_raw():
                read += len(chunk)
                if read > BODY_LIMIT_BYTES:
                    break
            return Answer(url, response.status_code)
    except TimeoutError:
        return Answer(url, error=f"no answer within {limit_seconds:.0f} s")
    except (httpx.HTTPError, httpx.StreamError, httpx.InvalidURL) as failed:
        return Answer(url, error=printable(str(failed) or type(failed).__name__, limit=200))
