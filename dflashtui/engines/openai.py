"""The OpenAI-compatible protocol as both engines speak it: what is sent, and what comes back. Pure."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

from dflashtui.text import decoded

CHAT, PLAIN = "/v1/chat/completions", "/v1/completions"
EVENT_LIMIT_BYTES = 2**20
DONE = b"[DONE]"


@dataclass(frozen=True, slots=True)
class Prompt:
    """What is asked of a model. Greedy, so that the same model gives the same text."""

    text: str
    model: str | None = None
    max_tokens: int = 64
    is_chat: bool = True

    @property
    def path(self) -> str:
        """Where it is sent."""
        return CHAT if self.is_chat else PLAIN

    def body(self) -> bytes:
        """As JSON; usage is asked for, since chunks are no tokens."""
        asked: dict[str, Any] = {"model": self.model} if self.model else {}
        said = {"messages": [{"role": "user", "content": self.text}]} if self.is_chat else {"prompt": self.text}
        asked |= {"max_tokens": self.max_tokens, "temperature": 0, "top_p": 1}
        return json.dumps({**asked, **said, "stream": True, "stream_options": {"include_usage": True}}).encode()


@dataclass(frozen=True, slots=True)
class Piece:
    """What one event of a stream says, or one whole answer."""

    text: str = ""
    thought: str = ""
    finish_reason: str | None = None
    model: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    error: str | None = None
    is_last: bool = False


class EventReader:
    """Server-sent events: bytes as they come, payloads of `data:` lines as they are whole.

    Lines are split as bytes, so that a chunk may end inside a character. Raises `ValueError` for a line without end.
    """

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, chunk: bytes) -> list[bytes]:
        """The payloads that this chunk completed."""
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        if len(self._rest) > EVENT_LIMIT_BYTES:
            raise ValueError(f"an event of more than {EVENT_LIMIT_BYTES // 2**20} MiB")
        return [line[5:].strip() for line in lines if line.startswith(b"data:")]


def event(payload: bytes) -> Piece:
    """What an event says. Raises `ValueError` if it is not JSON of the protocol."""
    if payload == DONE:
        return Piece(is_last=True)
    return _piece(_object(payload), "delta")


def whole(body: bytes) -> Piece:
    """What an answer in one piece says. Raises `ValueError`."""
    return replace(_piece(_object(body), "message"), is_last=True)


def error_words(body: bytes) -> str:
    """The server's own words in the body of a refusal; else its beginning."""
    try:
        return _error(_object(body)) or decoded(body[:200]).strip()
    except ValueError:
        return decoded(body[:200]).strip()


def model_names(body: bytes) -> list[str]:
    """The ids of `/v1/models`. Raises `ValueError`."""
    listed = _object(body).get("data")
    if not isinstance(listed, list):
        raise ValueError("no list of models")  # noqa: TRY004 - as for what is no JSON at all
    return [str(one["id"]) for one in listed if isinstance(one, dict) and one.get("id")]


def _object(payload: bytes) -> dict[str, Any]:
    try:
        found = json.loads(payload)
    except RecursionError:
        raise ValueError("JSON within JSON without end") from None
    if not isinstance(found, dict):
        raise ValueError("no JSON object")  # noqa: TRY004 - as for what is no JSON at all
    return found


def _piece(found: dict[str, Any], part: str) -> Piece:
    choices = found.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}
    said = choice.get(part) or {}
    usage = found.get("usage") or {}
    if not isinstance(said, dict) or not isinstance(usage, dict):
        raise ValueError("no answer of the protocol")  # noqa: TRY004 - as for what is no JSON at all
    return Piece(
        text=_words(said.get("content")) or _words(choice.get("text")),
        thought=_words(said.get("reasoning_content")) or _words(said.get("reasoning")),
        finish_reason=_words(choice.get("finish_reason")) or None,
        model=_words(found.get("model")) or None,
        input_tokens=_count(usage.get("prompt_tokens")),
        output_tokens=_count(usage.get("completion_tokens")),
        error=_error(found),
    )


def _error(found: dict[str, Any]) -> str | None:
    """`{"error": {"message": …}}`, `{"error": "…"}`, `{"object": "error", "message": …}`, `{"detail": …}`."""
    error = found.get("error")
    if isinstance(error, dict):
        return str(error.get("message") or error)
    if error:
        return str(error)
    if found.get("object") == "error" or ("choices" not in found and "detail" in found):
        return str(found.get("message") or found.get("detail"))
    return None


def _words(value: object) -> str:
    return value if isinstance(value, str) else ""


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
