"""Modules that an engine imports for certain, but late: inside functions that its start comes to. Pure.

Facts: inference-engines, parts 0.5, 1.5 and 2.1; SGLang 0.5.9 to 0.5.23, vLLM 0.20.2 and 0.33.0. A name that a release
does not have does no harm: it is looked for, not asserted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

GRAMMAR = "--grammar-backend"
GRAMMAR_MODULES = {name: f"sglang.srt.constrained.{name}_backend" for name in ("xgrammar", "outlines", "llguidance")}
SGLANG_OTHERWISE = {
    "--grpc-mode": "sglang.srt.entrypoints.grpc_server",
    "--encoder-only": "sglang.srt.disaggregation.encode_server",
}
VLLM = ("vllm.entrypoints.openai.api_server", "vllm.v1.engine.core", "vllm.v1.worker.gpu_worker")
SGLANG = ("sglang.srt.entrypoints.http_server", "sglang.srt.managers.scheduler")


def late_imports(engine: str | None, arguments: Sequence[str]) -> tuple[str, ...]:
    """What a start with these arguments comes to. `engine`: `sglang` or `vllm`; others: nothing is known."""
    if engine == "vllm":
        return VLLM
    if engine != "sglang":
        return ()
    instead = tuple(module for flag, module in SGLANG_OTHERWISE.items() if flag in arguments)
    grammar = GRAMMAR_MODULES.get(option(arguments, GRAMMAR) or "xgrammar")
    return (*(instead or SGLANG), *((grammar,) if grammar and not instead else ()))


def option(arguments: Sequence[str], name: str) -> str | None:
    """The value of `--name VALUE` or `--name=VALUE`, the last one if there are several."""
    found = None
    for position, word in enumerate(arguments):
        if word.startswith(f"{name}="):
            found = word.partition("=")[2]
        elif word == name:
            found = arguments[position + 1] if position + 1 < len(arguments) else None
    return found
