"""A smoke test's result for scripts and for people. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dflashtui.model.generation import Generation
    from dflashtui.model.smoke import SmokeResult

UNKNOWN = "n/a"


def document(result: SmokeResult) -> dict[str, Any]:
    """`smoke --json`. `null` is unknown."""
    found = result.generation
    return {
        "schema": 1,
        "host": result.host,
        "unit": result.unit,
        "verdict": result.verdict,
        "words": result.words,
        "url": result.url,
        "status": found.status,
        "model": found.model,
        "served_models": list(result.served),
        "expected_models": list(result.expected),
        "is_streamed": found.is_streamed,
        "repeats_prompt": found.repeats_prompt,
        "ttft_ms": _ms(found.ttft_seconds),
        "latency_ms": _ms(found.latency_seconds),
        "tpot_ms": _ms(found.tpot_seconds),
        "tokens_per_second": _rounded(found.tokens_per_second),
        "input_tokens": found.input_tokens,
        "output_tokens": found.output_tokens,
        "finish_reason": found.finish_reason,
        "text": found.text,
        "reasoning": found.reasoning,
    }


def lines(result: SmokeResult) -> Iterator[str]:
    """The verdict first, then what is known."""
    yield f"{result.host}: {result.unit}: {result.verdict}: {result.words}"
    found = result.generation
    if found.text or found.reasoning:
        yield f"  {figures(found)}"
    model = found.model or UNKNOWN
    expected = f", expected {' or '.join(result.expected)}" if result.expected else ", expected name not known"
    if found.status is not None:
        yield f"  model {model}{expected} · {result.url}"


def figures(found: Generation) -> str:
    """`TTFT 52 ms · 310 tokens/s · 64 tokens in 0.2 s · ends by stop`."""
    streamed = found.is_streamed
    echo = ("the prompt came back first, it is not counted",) if found.repeats_prompt else ()
    parts = (
        f"TTFT {_shown(_ms(found.ttft_seconds), ' ms')}{'' if streamed else ' (not streamed)'}",
        _shown(_rounded(found.tokens_per_second), " tokens/s"),
        f"{_shown(found.output_tokens, ' tokens')} in {_shown(_rounded(found.latency_seconds, 2), ' s')}",
        f"ends by {found.finish_reason or UNKNOWN}",
        *echo,
    )
    return " · ".join(parts)


def _ms(seconds: float | None) -> float | None:
    return _rounded(None if seconds is None else seconds * 1000)


def _rounded(value: float | None, digits: int = 1) -> float | None:
    return None if value is None else round(value, digits)


def _shown(value: float | None, unit: str) -> str:
    return UNKNOWN + unit if value is None else f"{value:g}{unit}"
