"""Asks a service whether it answers: bounded, gently, one step at a time."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

import httpx

from dflashtui.engines.answers import Answer, Asked, judged
from dflashtui.model.service import ServiceState
from dflashtui.text import printable

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from dflashtui.engines.readiness import ReadinessRule

POLL_LIMIT_SECONDS = 5.0
CONFIRM_LIMIT_SECONDS = 25.0
"""SGLang's own /health may take 20 s."""
BODY_LIMIT_BYTES = 64 * 1024


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
        detail, hint = f"{poll.words}, but {other}", ServiceState.WRONG_SERVICE
        return replace(before, detail=detail, rounds=before.rounds + 1, failures=0, hint=hint)
    if not poll.is_ok or rule.confirm is None or before.confirmed:
        return judged(before, poll, proof=rule.is_proof)
    return judged(before, await _get(client, rule.confirm, CONFIRM_LIMIT_SECONDS), proof=True)


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
