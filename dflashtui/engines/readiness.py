"""How each engine is asked whether it answers. Pure; facts: inference-engines, parts 2 and 3."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Engine = Literal["sglang", "vllm", "openai", "none"]

DEFAULT_PORTS: dict[str, int] = {"sglang": 30000, "vllm": 8000, "openai": 8000}
WILDCARD_ADDRESSES = {"0.0.0.0": "127.0.0.1", "::": "::1", "[::]": "::1", "": "127.0.0.1"}  # noqa: S104 - compared, never bound


@dataclass(frozen=True, slots=True)
class ReadinessRule:
    """What to ask of one service.

    `poll`: cheap and asked again and again. `confirm`: asked once a run after `poll` first succeeds, because it
    costs the service something (SGLang's /health generates a token); `None`: `poll` is proof enough.
    """

    poll: str
    confirm: str | None
    is_proof: bool
    """False: an answer shows that HTTP is up, not that a model answers (wrappers list models without a backend)."""


def endpoint(listen: str | None, engine: str) -> str:
    """`http://HOST:PORT` as the host itself would reach it; a wildcard address becomes loopback."""
    address, _, port = (listen or "").rpartition(":")
    address = WILDCARD_ADDRESSES.get(address, address.strip("[]"))
    shown = f"[{address}]" if ":" in address else address
    return f"http://{shown}:{port or DEFAULT_PORTS[engine]}"


def rule(engine: Engine, listen: str | None, url: str | None) -> ReadinessRule | None:
    """The rule of an engine; a `url` of the person's own wins. `None`: nothing to ask."""
    if engine == "none":
        return ReadinessRule(url, None, is_proof=True) if url else None
    base = endpoint(listen, engine)
    match engine:
        case "sglang":
            return ReadinessRule(f"{base}/model_info", url or f"{base}/health", is_proof=True)
        case "vllm":
            return ReadinessRule(url or f"{base}/health", None, is_proof=True)
        case "openai":
            return ReadinessRule(url or f"{base}/v1/models", None, is_proof=url is not None)
