"""The command line's language: `host NAME`, `unit NAME`, `since 10m`, `w FILE`, … Pure."""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

WORDS = {
    "host": "NAME: go to a host",
    "unit": "NAME: go to a unit",
    "theme": "NAME: change the colours",
    "since": "10m: the log from then on",
    "w": "FILE: save the log that is shown; .jsonl saves JSON lines, .export journal export",
    "filter": "NAME: saved filters of the log; save NAME, drop NAME",
    "problems": "only rows with a problem, or all",
    "freeze": "stop drawing new values, or go on",
    "help": "keys and signs",
    "q": "leave",
}
SPAN = re.compile(r"(\d+)\s*([smhd])\Z")
SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


class Line(NamedTuple):
    """One command."""

    word: str
    rest: str = ""


class LineError(ValueError):
    """The line cannot be understood; the message says what was expected."""


def parse(text: str, views: Iterable[str]) -> Line:
    """A line that was typed. Raises `LineError`."""
    word, _, rest = text.strip().partition(" ")
    known = [*WORDS, *views]
    if word not in known:
        near = difflib.get_close_matches(word, known, n=1)
        raise LineError(
            f"no command '{word}'; {f'did you mean {near[0]}?' if near else 'there are ' + ', '.join(known)}"
        )
    if WORDS.get(word, "").split(":")[0].isupper() and not rest.strip():
        raise LineError(f":{word} {WORDS[word]}")
    return Line(word, rest.strip())


def seconds(span: str) -> float:
    """`10m`, `2h`, `45s`, `1d`. Raises `LineError`."""
    found = SPAN.match(span.strip())
    if found is None:
        raise LineError(f"'{span}' is no time span; expected a number and s, m, h or d: 10m")
    return float(found[1]) * SECONDS[found[2]]


def completions(
    views: Iterable[str], hosts: Iterable[str], units: Iterable[str], themes: Iterable[str]
) -> tuple[str, ...]:
    """Every line that can be completed to."""
    return (
        *(f"host {name}" for name in hosts),
        *(f"unit {name}" for name in units),
        *(f"theme {name}" for name in themes),
        *views,
        *WORDS,
    )
