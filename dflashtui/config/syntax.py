"""TOML text as tables, with every line that is not TOML."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from typing import Any

from dflashtui.config.problems import Keys, Problem, dotted
from dflashtui.text import printable

POSITION = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)\Z")
SIMPLE_PAIR = re.compile(r"""[ \t]*[\w."'-][^=\[\]{}]*=""")
MOST_SYNTAX_PROBLEMS = 20
LARGEST_TO_TRY_AGAIN = 64 * 1024
"""Characters. Larger text is read once: each attempt costs up to a second per MiB."""


@dataclass(frozen=True, slots=True)
class Parsed:
    """What could be read; with problems, the lines that they name are left out of `text` and `data`."""

    text: str
    data: dict[str, Any]
    problems: tuple[Problem, ...] = ()


def parse(text: str) -> Parsed:
    """The tables. A line `key = …` that cannot be read is noted and left out, so that the rest is judged too."""
    problems: list[Problem] = []
    while True:
        try:
            return Parsed(text, tomllib.loads(text), tuple(problems))
        except (ValueError, RecursionError) as error:
            problems.append(_problem(text, error))
        shorter = _without(text, problems[-1].line)
        if shorter is None or len(problems) == MOST_SYNTAX_PROBLEMS:
            return Parsed(text, {}, tuple(problems))
        text = shorter


def _problem(text: str, error: ValueError | RecursionError) -> Problem:
    if isinstance(error, RecursionError):
        return Problem("nests too deep to be read", line=1)
    said = str(error)
    position = POSITION.search(said)
    if position is None:
        return Problem(f"cannot be read: {printable(said)}", line=1)
    line = int(position[1]) if position[1] else text.rstrip("\n").count("\n") + 1
    what = said[: position.start()]
    if repeated := _repeated(text, line, what):
        return repeated
    hint = "; text stands in quotes" if what == "Invalid value" else ""
    return Problem(f"is not TOML: {printable(what)}{hint}", line=line)


def _repeated(text: str, line: int, what: str) -> Problem | None:
    """A better word for `Cannot overwrite a value`: which key, and where it stands first."""
    from dflashtui.config.locate import Places  # noqa: PLC0415 - for errors alone

    if "overwrite" not in what:
        return None
    places = Places.of(text)
    keys: Keys | None = next((keys for keys, second in places.repeated.items() if second <= line), None)
    if keys is None:
        return None
    return Problem(f"{dotted(keys)}: is set a second time, first on line {places.line(keys)}", line=line)


def _without(text: str, number: int | None) -> str | None:
    """The text with that line empty; `None` where leaving it out could change what other lines mean."""
    lines = text.split("\n")
    if number is None or len(text) > LARGEST_TO_TRY_AGAIN or not SIMPLE_PAIR.match(lines[number - 1]):
        return None
    lines[number - 1] = ""
    return "\n".join(lines)
