"""What the command line and the environment of a running engine tell of its service. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dflashtui.engines.readiness import Engine

MODULES: tuple[tuple[str, Engine], ...] = (("sglang", "sglang"), ("vllm", "vllm"))
KEY_VARIABLES = ("VLLM_API_KEY", "SGLANG_API_KEY", "OPENAI_API_KEY", "API_KEY")
MODEL_OPTIONS = ("--served-model-name", "--model-path", "--model")


@dataclass(frozen=True, slots=True)
class Serves:
    """One running server."""

    engine: Engine | Literal["openai"] | None = None
    """`None`: neither engine's name is in its command."""
    listen: str | None = None
    """`HOST:PORT`, as far as the command says it."""
    key: str | None = field(default=None, repr=False)
    """The API key that it wants. A secret."""
    models: tuple[str, ...] = ()
    """Names that its model may be served under."""


def serves(argv: Sequence[str], environment: Mapping[str, str]) -> Serves:
    """What a process serves."""
    program = " ".join(argv[:6])
    engine = next((engine for name, engine in MODULES if name in program), None)
    address, port = option(argv, "--host"), option(argv, "--port")
    key = option(argv, "--api-key") or next(
        (environment[name] for name in KEY_VARIABLES if environment.get(name)), None
    )
    models = [value for name in MODEL_OPTIONS if (value := option(argv, name))]
    if "serve" in argv[:-1] and not (model := argv[argv.index("serve") + 1]).startswith("-"):
        models.append(model)
    return Serves(
        engine=engine,
        listen=f"{address or '127.0.0.1'}:{port}" if port else None,
        key=key,
        models=tuple(dict.fromkeys(models)),
    )


def option(argv: Sequence[str], name: str) -> str | None:
    """The value of an option: `--name VALUE` or `--name=VALUE`; the last one wins, as in argparse."""
    found = None
    for place, word in enumerate(argv):
        if word == name and place + 1 < len(argv):
            found = argv[place + 1]
        elif word.startswith(f"{name}="):
            found = word.partition("=")[2]
    return found


def process_words(data: bytes) -> tuple[str, ...]:
    """Words of /proc/PID/cmdline (proc(5)): each ends with a zero byte."""
    return tuple(word.decode("utf-8", "surrogateescape") for word in data.split(b"\0")[:-1])


def process_environment(data: bytes) -> dict[str, str]:
    """Variables of /proc/PID/environ (proc(5))."""
    pairs = (word.partition("=") for word in process_words(data))
    return {name: value for name, mark, value in pairs if mark}
