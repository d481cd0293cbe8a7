"""A service's load from what its engine prints in service (inference-engines, parts 2.1 and 2.2). Pure.

SGLang writes a line every 40 decoding steps, vLLM every 10 s; both are silent when idle. Parts of a line are found by
their names: hybrid models and speculation add and leave out some.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from dflashtui.model.load import Load

if TYPE_CHECKING:
    from datetime import datetime

NUMBER = r"\s*:\s*(-?\d+(?:\.\d+)?)"
LINE_LIMIT = 2048
SGLANG = {
    "running": "#running-req",
    "queued": "#queue-req",
    "output_tokens_per_second": r"gen throughput \(token/s\)",
    "accept_length": "accept len",
    "accept_rate": "accept rate",
    "usage": "(?<!full )(?<!swa )token usage",
    "full_usage": "full token usage",
}
VLLM = {
    "running": "Running",
    "queued": "Waiting",
    "output_tokens_per_second": "Avg generation throughput",
    "input_tokens_per_second": "Avg prompt throughput",
    "kv_use_percent": "GPU KV cache usage",
    "prefix_hit_percent": "Prefix cache hit rate",
}
VLLM_SPECULATION = {"accept_length": "Mean acceptance length", "accept_rate_percent": "Avg Draft acceptance rate"}
KINDS = (
    ("Decode batch", SGLANG),
    ("Avg generation throughput:", VLLM),
    ("SpecDecoding metrics:", VLLM_SPECULATION),
)
PATTERNS = {mark: {name: re.compile(words + NUMBER) for name, words in fields.items()} for mark, fields in KINDS}
GRAPH = re.compile(r"cuda graph\s*:\s*(True|False)")
WHOLE = frozenset({"running", "queued"})


class LogFigures:
    """Feed it the lines of one run; the newest figures stand."""

    def __init__(self) -> None:
        self._known: dict[str, Any] = {}

    def feed(self, text: str, at: datetime) -> Load | None:
        """The load, if this line told some of it."""
        if "batch" not in text and "throughput" not in text and "SpecDecoding" not in text:
            return None
        line = text[-LINE_LIMIT:]
        for mark, patterns in PATTERNS.items():
            if mark in line:
                self._known |= _read(line, patterns)
                return Load(at=at, via="log", **self._known)
        return None


def _read(line: str, patterns: dict[str, re.Pattern[str]]) -> dict[str, Any]:
    numbers = {name: float(match[1]) for name, pattern in patterns.items() if (match := pattern.search(line))}
    found: dict[str, Any] = {name: int(value) if name in WHOLE else value for name, value in numbers.items()}
    usages = [found.pop(name) for name in ("usage", "full_usage") if name in found]
    if usages:
        found["kv_use_percent"] = round(100 * max(usages), 1)
    if "accept_rate" in found:
        found["accept_rate_percent"] = round(100 * found.pop("accept_rate"), 1)
    if graph := GRAPH.search(line):
        found["cuda_graph"] = graph[1] == "True"
    return found
