"""One thing that is wrong with the file, and the error that lists them all."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from dflashtui.config.words import quoted
from dflashtui.errors import ConfigError
from dflashtui.text import printable

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

Keys = tuple[str | int, ...]
"""The way to a value: table names, keys, and positions in lists."""

BARE_KEY = re.compile(r"[A-Za-z0-9_-]+\Z")


class Problem(NamedTuple):
    """What is wrong, and where: by its keys, or by the line alone where the text could not be read."""

    message: str
    keys: Keys = ()
    line: int | None = None


def refusal(path: Path, text: str, problems: Iterable[Problem]) -> ConfigError:
    """Every problem as a sentence `FILE:LINE: KEY: …`, in the order of the file, each once."""
    from dflashtui.config.locate import Places  # noqa: PLC0415 - for errors alone

    places = Places.of(text)
    name = printable(str(path))
    found = {(problem.line or places.line(problem.keys), _sentence(problem)): None for problem in problems}
    return ConfigError([f"{name}:{line}: {sentence}" for line, sentence in sorted(found)])


def _sentence(problem: Problem) -> str:
    return f"{dotted(problem.keys)}: {problem.message}" if problem.keys else problem.message


def dotted(keys: Keys) -> str:
    """As TOML writes it: `units."a.service".gpus[0]`."""
    words = [f"[{key}]" if isinstance(key, int) else f".{_key(key)}" for key in keys]
    return "".join(words).removeprefix(".")


def _key(key: str) -> str:
    return key if BARE_KEY.match(key) else quoted(key)
