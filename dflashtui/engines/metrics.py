"""What the engines' `/metrics` mean (inference-engines, part 4). Pure.

Samples are folded over all labels, known or not: ranks of one engine say the same, so the largest of them counts;
engines side by side (`dp_rank`, `engine`) add up. What is not there stays unknown.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

PREFIXES = ("sglang:", "vllm:")
RANKS = frozenset({"tp_rank", "pp_rank", "moe_ep_rank"})
COUNTS = {
    "sglang:num_running_reqs": "running",
    "vllm:num_requests_running": "running",
    "sglang:num_queue_reqs": "queued",
    "vllm:num_requests_waiting": "queued",
    "sglang:num_retracted_reqs": "retracted",
    "sglang:gen_throughput": "throughput",
}
COUNTERS = {
    "sglang:prompt_tokens_total": "input_tokens",
    "vllm:prompt_tokens_total": "input_tokens",
    "sglang:generation_tokens_total": "output_tokens",
    "vllm:generation_tokens_total": "output_tokens",
    "vllm:prefix_cache_hits_total": "hits",
    "vllm:prefix_cache_queries_total": "queries",
    "vllm:spec_decode_num_drafts_total": "drafts",
    "vllm:spec_decode_num_draft_tokens_total": "draft_tokens",
    "vllm:spec_decode_num_accepted_tokens_total": "accepted",
    "vllm:num_preemptions_total": "retracted",
}
SHARES = {
    "sglang:token_usage": "kv_use",
    "vllm:kv_cache_usage_perc": "kv_use",
    "sglang:cache_hit_rate": "hit_rate",
    "sglang:spec_accept_length": "accept_length",
    "sglang:spec_accept_rate": "accept_rate",
    "sglang:is_cuda_graph": "cuda_graph",
}
HISTOGRAMS = {
    "sglang:time_to_first_token_seconds_bucket": "ttft",
    "vllm:time_to_first_token_seconds_bucket": "ttft",
    "sglang:inter_token_latency_seconds_bucket": "itl",
    "vllm:inter_token_latency_seconds_bucket": "itl",
}
ONLY_GROW = frozenset(COUNTERS.values()) - {"retracted"}

Labels = frozenset[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Reading:
    """One look at a service's metrics."""

    seconds: float
    """By a monotonic clock."""
    values: Mapping[str, float] = field(default_factory=dict)
    """By the names on the right of the tables above."""
    histograms: Mapping[str, Mapping[float, float]] = field(default_factory=dict)
    """Counts at or below each upper bound in seconds, which may be infinite."""

    def get(self, name: str) -> float | None:
        """A value, if the engine tells it."""
        return self.values.get(name)

    def is_after_restart(self, before: Reading) -> bool:
        """Whether a counter fell: it began anew."""
        return any(self.values.get(name, math.inf) < before.values.get(name, 0.0) for name in ONLY_GROW)


def reading(lines: Iterable[str], seconds: float) -> Reading:
    """What the samples in an exposition mean; lines that are none are left out."""
    by_name: dict[str, list[tuple[dict[str, str], float]]] = defaultdict(list)
    for name, labels, value in _samples(lines):
        by_name[name].append((labels, value))
    values = {ours: sum(_groups(by_name[name])) for name, ours in (COUNTS | COUNTERS).items() if name in by_name}
    for name, ours in SHARES.items():
        if groups := _groups(by_name.get(name, ())):
            values[ours] = max(groups) if ours == "kv_use" else sum(groups) / len(groups)
    histograms = {ours: _buckets(by_name[name]) for name, ours in HISTOGRAMS.items() if name in by_name}
    return Reading(seconds, values, histograms)


def _samples(lines: Iterable[str]) -> Iterator[tuple[str, dict[str, str], float]]:
    from prometheus_client.parser import text_string_to_metric_families  # noqa: PLC0415 - costs 50 ms; few hosts need it

    for line in lines:
        if not line.startswith(PREFIXES):
            continue
        try:
            found = [sample for family in text_string_to_metric_families(line) for sample in family.samples]
        except (ValueError, IndexError, KeyError):
            continue
        yield from ((one.name, one.labels, one.value) for one in found if math.isfinite(one.value))


def _groups(samples: Iterable[tuple[dict[str, str], float]]) -> list[float]:
    """One value for each engine."""
    found: dict[Labels, float] = {}
    for labels, value in samples:
        key = _key(labels)
        found[key] = max(value, found.get(key, value))
    return list(found.values())


def _key(labels: Mapping[str, str]) -> Labels:
    return frozenset((name, value) for name, value in labels.items() if name not in RANKS)


def _buckets(samples: Iterable[tuple[dict[str, str], float]]) -> dict[float, float]:
    found: dict[float, float] = defaultdict(float)
    for labels, value in samples:
        try:
            found[float(labels["le"])] += value
        except (KeyError, ValueError):
            continue
    return dict(found)


def quantile(before: Mapping[float, float], after: Mapping[float, float], share: float) -> float | None:
    """The value below which that share of what came between two looks lies, in the histogram's unit.

    Linear between bounds, as Prometheus' `histogram_quantile`; beyond the last finite bound, that bound.
    """
    counts = sorted((bound, count - before.get(bound, 0.0)) for bound, count in after.items())
    if not counts or counts[-1][1] <= 0:
        return None
    wanted, low, below = counts[-1][1] * share, 0.0, 0.0
    for bound, count in counts:
        if count >= wanted and math.isinf(bound):
            return low
        if count >= wanted:
            return low + (bound - low) * (wanted - below) / (count - below) if count > below else bound
        low, below = bound, count
    return None
