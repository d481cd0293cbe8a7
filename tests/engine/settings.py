"""What a stand-in is told to be, from words such as `kind=vllm port=8000 accept=3,5 faults=hang`."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

FAULTS = {
    "401": "every request is refused, whatever its key",
    "429": "too many requests",
    "500": "generation answers with status 500",
    "html": "status 200 and a web page where JSON is meant",
    "error-body": "status 200 and an error in its body",
    "error-in-stream": "an error chunk in a stream that has begun",
    "broken": "the connection ends in the middle of a chunk",
    "endless": "a stream that goes on beyond every limit",
    "silent": "a stream that begins and says nothing",
    "slow-start": "a connection that is taken and never answered",
    "rubbish": "no HTTP at all",
    "split": "chunks end inside of UTF-8 characters and of lines",
    "other-model": "answers name another model",
    "no-usage": "no token counts",
    "no-stream": "streams are answered in one piece",
    "empty": "no text",
    "echo": "the prompt comes back at once, before the answer",
    "repeats": "one word again and again",
    "differs-early": "other words from the second token on",
    "differs-late": "one other word near the end",
    "hang": "nothing is generated any more; HTTP answers",
    "drain": "no new work: /health says 503",
    "no-metrics": "/metrics is not there",
    "huge-metrics": "/metrics of 50 MB",
    "odd-metrics": "unknown labels and families, values that are no numbers",
    "no-chat": "no chat template: only plain completions",
    "dies": "the process kills itself in the middle of a generation",
}


@dataclass
class Settings:
    """`kind`: sglang, vllm, or lazy (a wrapper that lists models without a backend)."""

    kind: str = "sglang"
    version: str = "0.5.12"
    model: str = "stand-in"
    host: str = "127.0.0.1"
    port: int = 0
    phase_seconds: float = 0.0
    """Length of each step of the start; 0: it starts at once and prints nothing."""
    prefill_seconds: float = 0.05
    """From the request to the first token."""
    verify_seconds: float = 0.02
    """Length of one decoding step."""
    accept: tuple[int, ...] = (1,)
    """Tokens that come of each step, in turn: 1 without speculation."""
    tokens: int = 64
    """Of an answer that ends by itself, give or take a quarter."""
    reasoning: int = 0
    """Of which so many are thoughts."""
    api_key: str = ""
    load_seconds: float = 0.0
    """How long a lazy wrapper takes to start its backend."""
    metrics: bool = True
    log_steps: int = 40
    """Decoding steps between two log lines; 0: none."""
    crash: str = ""
    """`late-import`: dies at the end of its start; `child`: as SGLang does after a child's crash; `exit0`: as vLLM."""
    faults: set[str] = field(default_factory=set)


def settings(words: Iterable[str]) -> Settings:
    """Raises `ValueError` for what is not known."""
    found = Settings()
    kinds = {each.name: each.type for each in fields(Settings)}
    for word in words:
        name, _, value = word.partition("=")
        if name not in kinds:
            raise ValueError(f"no setting {name!r}; there are {', '.join(kinds)}")
        setattr(found, name, _value(str(kinds[name]), value))
    if unknown := found.faults - FAULTS.keys():
        raise ValueError(f"no fault {', '.join(unknown)}; there are {', '.join(FAULTS)}")
    return found


def _value(kind: str, text: str) -> object:
    match kind:
        case "int":
            return int(text)
        case "float":
            return float(text)
        case "bool":
            return text not in {"", "0", "no"}
        case "tuple[int, ...]":
            return tuple(map(int, text.split(",")))
        case "set[str]":
            return set(filter(None, text.split(",")))
        case _:
            return text
