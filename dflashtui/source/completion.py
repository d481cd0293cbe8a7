"""Asks a service for one completion and times what comes. Nothing hangs: every way to go wrong is an `Outcome`."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from dflashtui.engines.openai import EventReader, Piece, Prompt, error_words, event, whole
from dflashtui.mask import masked
from dflashtui.model.generation import Generation, Outcome
from dflashtui.source.exchange import Cut, Exchange, NoConnection, NotHttp, exchange
from dflashtui.source.first_token import FirstToken
from dflashtui.text import decoded, printable

if TYPE_CHECKING:
    from collections.abc import Callable

    from dflashtui.source.exchange import Dial

T = TypeVar("T")
UNAUTHORISED, BUSY = {401, 403}, {429, 503}
OUTCOMES = {NoConnection: Outcome.REFUSED, NotHttp: Outcome.NOT_OPENAI, Cut: Outcome.BROKEN}
SPARE_TOKENS = 64
"""Beyond what was asked for, before an answer is called endless; a chunk holds at least a token."""
TEXT_LIMIT = 2**20


@dataclass(frozen=True, slots=True)
class Limits:
    """How long to wait."""

    seconds: float = 300.0
    """For the whole answer."""
    silent_seconds: float = 60.0
    """For its next piece."""


@dataclass(slots=True)
class _Heard:
    """What has come so far."""

    begin: FirstToken
    sent_seconds: float = 0.0
    status: int | None = None
    texts: list[str] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)
    last_seconds: float | None = None
    chunks: int = 0
    size: int = 0
    is_ended: bool = False
    is_streamed: bool = True

    def take(self, piece: Piece, at: float) -> None:
        if piece.text or piece.thought:
            self.begin.take(piece.text, at, is_thought=bool(piece.thought))
            self.last_seconds = at
            self.chunks += 1
            self.size += len(piece.text) + len(piece.thought)
            self.texts.append(piece.text)
            self.thoughts.append(piece.thought)
        for name in ("finish_reason", "model", "input_tokens", "output_tokens"):
            if (value := getattr(piece, name)) is not None:
                self.facts[name] = value
        self.is_ended = self.is_ended or piece.is_last

    def result(self, outcome: Outcome, words: str = "") -> Generation:
        first = self.begin.seconds if self.is_streamed else None
        return Generation(
            outcome=outcome,
            words=printable(masked(words), limit=500),
            status=self.status,
            text="".join(self.texts),
            reasoning="".join(self.thoughts),
            is_streamed=self.is_streamed,
            repeats_prompt=self.begin.is_echoed,
            chunks=self.chunks,
            sent_seconds=self.sent_seconds,
            ttft_seconds=None if first is None else first - self.sent_seconds,
            latency_seconds=None if self.last_seconds is None else self.last_seconds - self.sent_seconds,
            **self.facts,
        )


class Ended(Exception):
    """The answer is over, in a way that has a name."""

    def __init__(self, outcome: Outcome, words: str) -> None:
        super().__init__(words)
        self.outcome = outcome


def _ignore(_: Piece) -> None:
    """Nobody listens."""


async def complete(
    dial: Dial,
    base: str,
    prompt: Prompt,
    *,
    key: str | None = None,
    limits: Limits | None = None,
    hear: Callable[[Piece], None] = _ignore,
) -> Generation:
    """Ask for one completion at `base` (`http://HOST:PORT`); `hear` gets its pieces as they arrive."""
    heard, limits = _Heard(FirstToken(prompt.text)), limits or Limits()
    silence = asyncio.timeout(limits.silent_seconds)
    try:
        async with asyncio.timeout(limits.seconds), silence:
            await _ask(Question(dial, base, prompt, key, hear), heard, Patience(silence, limits.silent_seconds))
    except Ended as ended:
        return heard.result(ended.outcome, str(ended))
    except (NoConnection, NotHttp, Cut) as failed:
        return heard.result(OUTCOMES[type(failed)], str(failed))
    except TimeoutError:
        return heard.result(*_too_late(limits, is_silent=silence.expired()))
    return _judged(heard)


def _too_late(limits: Limits, *, is_silent: bool) -> tuple[Outcome, str]:
    if is_silent:
        return Outcome.SILENT, f"nothing came for {limits.silent_seconds:.0f} s"
    return Outcome.TOO_SLOW, f"not at its end within {limits.seconds:.0f} s"


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, where, and who listens."""

    dial: Dial
    base: str
    prompt: Prompt
    key: str | None
    hear: Callable[[Piece], None]

    @property
    def headers(self) -> dict[str, str]:
        """With the key, where there is one."""
        return {"Authorization": f"Bearer {self.key}"} if self.key else {}


@dataclass(frozen=True, slots=True)
class Patience:
    """A limit that begins anew with every piece."""

    limit: asyncio.Timeout
    seconds: float

    def renew(self) -> None:
        """Something came."""
        self.limit.reschedule(asyncio.get_running_loop().time() + self.seconds)


async def _ask(asked: Question, heard: _Heard, patience: Patience) -> None:
    url, body = asked.base + asked.prompt.path, asked.prompt.body()
    async with exchange(asked.dial, url, body=body, headers=asked.headers) as answer:
        patience.renew()
        heard.sent_seconds, heard.status = answer.sent_seconds, answer.status
        await _check_head(answer)
        if "event-stream" in answer.headers.get("content-type", ""):
            await _hear_all(answer, asked, heard, patience)
            return
        heard.is_streamed = False
        piece = _meant(whole, await answer.body())
        heard.take(piece, answer.arrived_seconds)
        _check(piece)
        asked.hear(piece)


async def _check_head(answer: Exchange) -> None:
    """Raises `Ended` for all that is not the beginning of an answer."""
    if answer.status in UNAUTHORISED:
        raise Ended(Outcome.UNAUTHORISED, f"{answer.status}: it is up, and the API key is missing or wrong")
    if not 200 <= answer.status < 300:  # noqa: PLR2004 - the class of success
        words = f"{answer.status}: {error_words(await answer.body())}"
        raise Ended(Outcome.BUSY if answer.status in BUSY else Outcome.HTTP_ERROR, words)
    kind = answer.headers.get("content-type", "")
    if "html" in kind:
        raise Ended(Outcome.NOT_OPENAI, f"a web page came ({kind}) where JSON was meant")


async def _hear_all(answer: Exchange, asked: Question, heard: _Heard, patience: Patience) -> None:
    events = EventReader()
    async with aclosing(answer.chunks()) as chunks:
        async for at, chunk in chunks:
            patience.renew()
            for payload in _meant(events.feed, chunk):
                piece = _meant(event, payload)
                heard.take(piece, at)
                _check(piece)
                asked.hear(piece)
            if heard.is_ended:
                return
            if heard.chunks > asked.prompt.max_tokens + SPARE_TOKENS or heard.size > TEXT_LIMIT:
                words = f"{asked.prompt.max_tokens} tokens were asked for, {heard.chunks} pieces came: cut off"
                raise Ended(Outcome.ENDLESS, words)


def _meant(reading: Callable[[bytes], T], data: bytes) -> T:
    """What the bytes mean. Raises `Ended` if they are not of the protocol."""
    try:
        return reading(data)
    except (ValueError, RecursionError) as wrong:
        words = f"not the OpenAI protocol: {decoded(data[:80])!r} ({wrong})"
        raise Ended(Outcome.NOT_OPENAI, words) from wrong


def _check(piece: Piece) -> None:
    if piece.error:
        raise Ended(Outcome.ERROR_ANSWER, masked(piece.error))


def _judged(heard: _Heard) -> Generation:
    """An answer that came to an end."""
    if not heard.is_ended and not heard.facts.get("finish_reason"):
        return heard.result(Outcome.BROKEN, "the stream ended without its last event")
    if not "".join((*heard.texts, *heard.thoughts)).strip():
        return heard.result(Outcome.EMPTY, "it ended in order and said nothing")
    return heard.result(Outcome.OK)
