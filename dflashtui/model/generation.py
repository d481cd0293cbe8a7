"""One completion that was asked of a service, and what came of it."""

from __future__ import annotations

from enum import StrEnum

from dflashtui.model.base import Value


class Outcome(StrEnum):
    """What became of one request. Every bad end has a name; none of them is an exception."""

    OK = "ok"
    REFUSED = "refused"
    """No connection could be made."""
    UNAUTHORISED = "unauthorised"
    """401 or 403: it is up, and the key is missing or wrong."""
    BUSY = "busy"
    """429 or 503."""
    HTTP_ERROR = "http-error"
    ERROR_ANSWER = "error-answer"
    """An error in the body of an answer that began with status 200."""
    NOT_OPENAI = "not-openai"
    """A web page, or no HTTP at all: another kind of server listens there."""
    BROKEN = "broken"
    """The answer ended before its end: the connection or the server died."""
    ENDLESS = "endless"
    """Far more came than was asked for; it was cut off."""
    SILENT = "silent"
    """Nothing came within the limit."""
    TOO_SLOW = "too-slow"
    """It went on, but the time was up."""
    EMPTY = "empty"
    """It ended in order and said nothing."""


class Generation(Value):
    """Times are spans of a monotonic clock, from the moment the request was sent. Unknown is `None`."""

    outcome: Outcome
    words: str = ""
    """What went wrong, in words, with what came back."""
    status: int | None = None
    text: str = ""
    reasoning: str = ""
    """What a reasoning model thought before it answered."""
    finish_reason: str | None = None
    model: str | None = None
    """The name that the answers carry."""
    input_tokens: int | None = None
    output_tokens: int | None = None
    """As the service counted (`usage`); chunks are never counted."""
    is_streamed: bool = True
    repeats_prompt: bool = False
    """The service sent the prompt back before its answer."""
    chunks: int = 0
    """Pieces with text in them."""
    sent_seconds: float = 0.0
    """When it was sent, by the monotonic clock."""
    ttft_seconds: float | None = None
    """To the first piece with text or thought that is not the prompt; `None` where nothing was streamed."""
    latency_seconds: float | None = None
    """To the last piece with text."""

    @property
    def is_ok(self) -> bool:
        """Whether it counts."""
        return self.outcome is Outcome.OK

    @property
    def tpot_seconds(self) -> float | None:
        """Time per output token after the first (inference-engines, part 8.1)."""
        if self.ttft_seconds is None or self.latency_seconds is None or (self.output_tokens or 0) < 2:  # noqa: PLR2004
            return None
        return (self.latency_seconds - self.ttft_seconds) / ((self.output_tokens or 0) - 1)

    @property
    def tokens_per_second(self) -> float | None:
        """Of this one request, its first token included."""
        return self.output_tokens / self.latency_seconds if self.output_tokens and self.latency_seconds else None
