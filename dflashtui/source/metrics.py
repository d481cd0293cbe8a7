"""Reads a service's `/metrics`: bounded in time and size, one look at a time."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING

import httpx

from dflashtui.engines.metrics import PREFIXES, Reading, reading
from dflashtui.text import decoded, printable

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

LIMIT_SECONDS = 5.0
LIMIT_BYTES = 4 * 2**20
"""Engines tell 20 to 300 KB."""
NO_METRICS = {
    404: "no /metrics here: SGLang serves it with --enable-metrics",
    401: "/metrics asks for an API key",
    403: "/metrics is forbidden",
}


@dataclass(frozen=True, slots=True)
class Scrape:
    """What one look gave: a reading, or why there is none."""

    reading: Reading | None = None
    problem: str = ""
    is_lasting: bool = False
    """The same will be said again: it is worth asking rarely."""


async def scrape(client: httpx.AsyncClient, base: str) -> Scrape:
    """Read `base`/metrics. Trouble is a value."""
    url = f"{base}/metrics"
    try:
        async with asyncio.timeout(LIMIT_SECONDS), client.stream("GET", url, follow_redirects=False) as response:
            if not response.is_success:
                words = NO_METRICS.get(response.status_code, f"GET /metrics {response.status_code}")
                return Scrape(problem=words, is_lasting=response.status_code in NO_METRICS)
            return await _read(response)
    except TimeoutError:
        return Scrape(problem=f"GET /metrics: no answer within {LIMIT_SECONDS:.0f} s")
    except (httpx.HTTPError, httpx.StreamError, httpx.InvalidURL) as failed:
        return Scrape(problem=f"GET /metrics: {printable(str(failed) or type(failed).__name__, limit=200)}")


async def _read(response: httpx.Response) -> Scrape:
    began, size, kept = monotonic(), 0, []
    async for line in _lines(response):
        size += len(line) + 1
        if size > LIMIT_BYTES:
            words = f"/metrics is larger than {LIMIT_BYTES // 2**20} MiB: not read to its end"
            return Scrape(problem=words, is_lasting=True)
        if line.startswith(tuple(prefix.encode() for prefix in PREFIXES)):
            kept.append(decoded(line))
    if not kept:
        return Scrape(problem="/metrics tells nothing that is known of SGLang or vLLM", is_lasting=True)
    return Scrape(reading(kept, began))


async def _lines(response: httpx.Response) -> AsyncIterator[bytes]:
    """Lines as bytes; one that never ends counts as it comes."""
    rest = b""
    async for chunk in response.aiter_bytes():
        *whole, rest = (rest + chunk).split(b"\n")
        for line in whole:
            yield line
        if len(rest) > LIMIT_BYTES:
            yield rest
            rest = b""
    if rest:
        yield rest
