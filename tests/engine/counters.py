"""What a stand-in counts, and how its `/metrics` says it (inference-engines, part 4)."""

from __future__ import annotations

import bisect
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.engine.settings import Settings

BOUNDS = (0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 10.0)
DRAFT_TOKENS = 15
HUGE_BYTES = 50 * 10**6


@dataclass
class Histogram:
    """Counts below each bound."""

    counts: list[int] = field(default_factory=lambda: [0] * (len(BOUNDS) + 1))
    total: float = 0.0

    def take(self, seconds: float) -> None:
        self.counts[bisect.bisect_left(BOUNDS, seconds)] += 1
        self.total += seconds

    def lines(self, name: str, labels: str) -> Iterator[str]:
        yield f"# TYPE {name} histogram"
        below = 0
        for bound, count in zip((*map(str, BOUNDS), "+Inf"), self.counts, strict=True):
            below += count
            yield f'{name}_bucket{{le="{bound}",{labels}}} {below}.0'
        yield f"{name}_count{{{labels}}} {below}.0"
        yield f"{name}_sum{{{labels}}} {self.total}"


@dataclass
class Counters:
    """Since the start."""

    running: int = 0
    prompt_tokens: int = 0
    tokens: int = 0
    drafts: int = 0
    accepted: int = 0
    requests: int = 0
    generated: int = 0
    """Requests that made the engine generate."""
    ttft: Histogram = field(default_factory=Histogram)
    between: Histogram = field(default_factory=Histogram)
    whole: Histogram = field(default_factory=Histogram)
    ttft_seconds: list[float] = field(default_factory=list)
    """As they really were, by this server's clock."""
    latency_seconds: list[float] = field(default_factory=list)

    def step(self, seconds: float, tokens: int) -> None:
        """One decoding step of one request."""
        self.tokens += tokens
        self.drafts += 1
        self.accepted += tokens - 1
        for _ in range(tokens):
            self.between.take(seconds / tokens)

    @property
    def accept_length(self) -> float:
        return 1 + self.accepted / self.drafts if self.drafts else 0.0

    @property
    def accept_rate(self) -> float:
        return self.accepted / (self.drafts * DRAFT_TOKENS) if self.drafts else 0.0


def exposition(settings: Settings, counters: Counters) -> str:
    """The text of `/metrics`."""
    lines = list(_vllm(settings, counters) if settings.kind == "vllm" else _sglang(settings, counters))
    if "odd-metrics" in settings.faults:
        lines += [
            "# HELP odd what\\nis it",
            "# TYPE odd gauge",
            'odd{a="\\"}",b="x,y"} NaN',
            "new_family_total 7 1700000",
        ]
    if "huge-metrics" in settings.faults:
        line = 'filler_total{path="/some/long/path/of/a/metric"} 1.0'
        lines += [line] * (HUGE_BYTES // len(line))
    return "\n".join(lines) + "\n"


def _sglang(settings: Settings, now: Counters) -> Iterator[str]:
    ours = f'model_name="{settings.model}",engine_type="unified"'
    ranked = f'{ours},tp_rank="0",pp_rank="0",moe_ep_rank="0"'
    if "odd-metrics" in settings.faults:
        ranked += ',shard="7"'
    gauges = {
        "num_running_reqs": now.running,
        "num_queue_reqs": 0,
        "token_usage": round(min(1.0, now.running / 64), 3),
        "cache_hit_rate": 0.25,
        "gen_throughput": 0.0,
        "num_retracted_reqs": 0,
        "is_cuda_graph": 1.0,
    }
    if max(settings.accept) > 1:
        gauges |= {"spec_accept_length": now.accept_length, "spec_accept_rate": now.accept_rate}
    for name, value in gauges.items():
        yield f"# TYPE sglang:{name} gauge"
        yield f"sglang:{name}{{{ranked}}} {float(value)}"
    for name, count in (("prompt_tokens", now.prompt_tokens), ("generation_tokens", now.tokens)):
        yield f"# TYPE sglang:{name}_total counter"
        yield f"sglang:{name}_total{{{ours}}} {float(count)}"
    yield from now.ttft.lines("sglang:time_to_first_token_seconds", ours)
    yield from now.between.lines("sglang:inter_token_latency_seconds", ours)
    yield from now.whole.lines("sglang:e2e_request_latency_seconds", ours)


def _vllm(settings: Settings, now: Counters) -> Iterator[str]:
    labels = f'engine="0",model_name="{settings.model}"'
    gauges = {
        "num_requests_running": now.running,
        "num_requests_waiting": 0,
        "kv_cache_usage_perc": round(min(1.0, now.running / 64), 3),
    }
    counts = {
        "prompt_tokens": now.prompt_tokens,
        "generation_tokens": now.tokens,
        "prefix_cache_queries": now.prompt_tokens,
        "prefix_cache_hits": now.prompt_tokens // 4,
        "num_preemptions": 0,
    }
    if max(settings.accept) > 1:
        counts |= {
            "spec_decode_num_drafts": now.drafts,
            "spec_decode_num_draft_tokens": now.drafts * DRAFT_TOKENS,
            "spec_decode_num_accepted_tokens": now.accepted,
        }
    for name, value in gauges.items():
        yield f"# TYPE vllm:{name} gauge"
        yield f"vllm:{name}{{{labels}}} {float(value)}"
    for name, count in counts.items():
        yield f"# TYPE vllm:{name}_total counter"
        yield f"vllm:{name}_total{{{labels}}} {float(count)}"
        yield f"# TYPE vllm:{name}_created gauge"
        yield f"vllm:{name}_created{{{labels}}} 1.78e+09"
    yield from now.ttft.lines("vllm:time_to_first_token_seconds", labels)
    yield from now.between.lines("vllm:inter_token_latency_seconds", labels)
    yield from now.whole.lines("vllm:e2e_request_latency_seconds", labels)
