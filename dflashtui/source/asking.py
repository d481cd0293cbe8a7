"""One small question to a service, over the connection that a completion would take."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dflashtui.model.generation import Outcome
from dflashtui.source.exchange import Cut, NoConnection, NotHttp, exchange
from dflashtui.text import printable

if TYPE_CHECKING:
    from dflashtui.source.exchange import Dial

LIMIT_SECONDS = 10.0
BODY_LIMIT_BYTES = 2**20
OUTCOMES = {NoConnection: Outcome.REFUSED, NotHttp: Outcome.NOT_OPENAI, Cut: Outcome.BROKEN}


@dataclass(frozen=True, slots=True)
class Fetched:
    """What came back: a status and a body, or why there is neither."""

    status: int | None = None
    body: bytes = b""
    outcome: Outcome = Outcome.OK
    words: str = ""

    @property
    def is_ok(self) -> bool:
        """Whether the service said yes."""
        return self.status is not None and 200 <= self.status < 300  # noqa: PLR2004 - the class of success


async def fetch(
    dial: Dial,
    url: str,
    *,
    key: str | None = None,
    is_post: bool = False,
    limit_seconds: float = LIMIT_SECONDS,
    limit_bytes: int = BODY_LIMIT_BYTES,
) -> Fetched:
    """GET (or POST of nothing). Trouble is a value."""
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    try:
        async with (
            asyncio.timeout(limit_seconds),
            exchange(dial, url, body=b"" if is_post else None, headers=headers) as answer,
        ):
            return Fetched(answer.status, await answer.body(limit_bytes))
    except TimeoutError:
        return Fetched(outcome=Outcome.SILENT, words=f"no answer within {limit_seconds:.0f} s")
    except (NoConnection, NotHttp, Cut) as failed:
        return Fetched(outcome=OUTCOMES[type(failed)], words=printable(str(failed), limit=300))
