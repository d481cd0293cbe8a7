"""One real completion of a service: does it answer, which model does, how fast."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from dflashtui.engines.openai import Prompt, model_names
from dflashtui.model.generation import Generation, Outcome
from dflashtui.model.smoke import SmokeResult
from dflashtui.source.asking import fetch
from dflashtui.source.completion import Limits, complete
from dflashtui.text import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from dflashtui.engines.openai import Piece
    from dflashtui.ops.endpoint import Endpoint
    from dflashtui.source.asking import Fetched

PROMPT = "Say in one sentence what a tree is."
MAX_TOKENS = 128
LIMITS = Limits(seconds=180.0, silent_seconds=60.0)
UNAUTHORISED = {401, 403}
NO_CHAT = {400, 404, 405, 422}
"""Statuses with which servers refuse a chat that could do a plain completion."""


@dataclass(frozen=True, slots=True)
class Served:
    """What `/v1/models` told."""

    names: tuple[str, ...] = ()
    failed: Generation | None = None
    """It told that nothing else can be asked either."""


async def smoke(
    service: Endpoint,
    hear: Callable[[Piece], None],
    *,
    prompt: str = PROMPT,
    max_tokens: int = MAX_TOKENS,
    limits: Limits = LIMITS,
) -> SmokeResult:
    """Ask for one completion; `hear` gets its pieces as they arrive. Bad answers are results, never exceptions."""
    served = await _served(service)
    model = _model(service, served.names)
    asked = Prompt(prompt, model=model, max_tokens=max_tokens)
    found, is_chat = (served.failed, True) if served.failed else await _completed(service, asked, limits, hear)
    return SmokeResult(
        host=service.host,
        unit=service.unit,
        url=service.base,
        generation=found.model_copy(update={"words": service.without_key(found.words)}),
        model=model,
        served=served.names,
        expected=service.models,
        is_chat=is_chat,
        trouble=_trouble(service, served.names, model, found),
    )


async def _served(service: Endpoint) -> Served:
    found = await fetch(service.dial, f"{service.base}/v1/models", key=service.key)
    if found.status in UNAUTHORISED:
        words = f"{found.status}: it is up, and the API key is missing or wrong"
        return Served(failed=Generation(outcome=Outcome.UNAUTHORISED, status=found.status, words=words))
    if found.status is None:
        return Served(failed=Generation(outcome=found.outcome, words=found.words))
    return Served(_names(found))


def _names(found: Fetched) -> tuple[str, ...]:
    """None where the server has no such list: the completion will tell."""
    try:
        return tuple(printable(name, limit=300) for name in model_names(found.body)) if found.is_ok else ()
    except (ValueError, RecursionError):
        return ()


def _model(service: Endpoint, served: tuple[str, ...]) -> str | None:
    """The expected one if it is served, else the first that is, else the expected one."""
    fitting = [name for name in served if _is_among(name, service.models)]
    return next(iter((*fitting, *served, *service.models)), None)


async def _completed(
    service: Endpoint, asked: Prompt, limits: Limits, hear: Callable[[Piece], None]
) -> tuple[Generation, bool]:
    """A chat; where the server or the model has none, a plain completion. Which of them it was."""
    found = await complete(service.dial, service.base, asked, key=service.key, limits=limits, hear=hear)
    if found.outcome is Outcome.HTTP_ERROR and found.status in NO_CHAT:
        plain = replace(asked, is_chat=False)
        second = await complete(service.dial, service.base, plain, key=service.key, limits=limits, hear=hear)
        return (second, False) if second.is_ok else (found, True)
    return found, True


def _trouble(service: Endpoint, served: tuple[str, ...], model: str | None, found: Generation) -> str | None:
    if not found.is_ok:
        return None
    if served and service.models and not any(_is_among(name, service.models) for name in served):
        wanted = " or ".join(map(printable, service.models))
        return f"another model answers there: it serves {', '.join(served)}, the unit is to serve {wanted}"
    if model and found.model and not (_is_among(found.model, [model]) or _is_among(model, [found.model])):
        return f"{printable(model)} was asked, {printable(found.model)} answered"
    return None


def _is_among(name: str, wanted: Iterable[str]) -> bool:
    """Whether a server means one of these: `transformers serve` adds `@` and the revision to a model's name."""
    return any(name == one or name.startswith(f"{one}@") for one in wanted)
