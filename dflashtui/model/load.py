"""How busy and how fast a service is, as its metrics or its log tell it."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from dflashtui.model.base import Value


class Load(Value):
    """Figures of one service at one moment. What the engine does not tell is `None`, never 0."""

    at: datetime
    """When they were read, or when the line was written."""
    via: Literal["metrics", "log"] = "metrics"
    interval_seconds: float | None = None
    """What rates are about; `None`: the engine's own interval, or the first reading."""
    running: int | None = None
    queued: int | None = None
    output_tokens_per_second: float | None = None
    input_tokens_per_second: float | None = None
    kv_use_percent: float | None = None
    prefix_hit_percent: float | None = None
    """Of the prompts' tokens, those that were in the prefix cache."""
    ttft_p50_ms: float | None = None
    """Of requests whose first token came within the last minute, between bounds of the engine's histogram."""
    ttft_p95_ms: float | None = None
    itl_p50_ms: float | None = None
    """Between tokens, as the engine counts them."""
    itl_p95_ms: float | None = None
    accept_length: float | None = None
    """Tokens of each decoding step, the bonus token included: 1.0 is no gain from speculation."""
    accept_rate_percent: float | None = None
    retracted_count: int | None = None
    """Requests put back for want of KV cache (SGLang: now; vLLM: since the start)."""
    cuda_graph: bool | None = None
    stalled_seconds: float | None = None
    """How long requests have been running without a single token; 0: tokens come."""
    queue_grows: bool = False
    """More wait than a minute ago, and than run."""
