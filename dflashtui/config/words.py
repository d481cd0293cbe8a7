"""How this package shows a value of the file in a message, and what it proposes for a slip of the pen."""

from __future__ import annotations

from datetime import date, time
from typing import TYPE_CHECKING

from dflashtui.text import printable

if TYPE_CHECKING:
    from collections.abc import Iterable

LONGEST_SHOWN = 60
CLOSE_ENOUGH = 0.6
MOST_LISTED = 8
KINDS: tuple[tuple[tuple[type, ...], str], ...] = (
    ((str,), "text"),
    ((bool,), "true or false"),
    ((int, float), "a number"),
    ((list,), "a list"),
    ((dict,), "a table"),
    ((date, time), "a date or time"),
)


def shown(value: object) -> str:
    """A value as the file writes it, cut and safe to print; tables and lists by their kind alone."""
    match value:
        case str():
            return quoted(value)
        case bool():
            return str(value).lower()
        case int() if abs(value) < 10**LONGEST_SHOWN:
            return str(value)
        case float():
            return str(value)
        case _:
            return kind(value)


def quoted(text: str) -> str:
    """Text between quotes, cut and safe to print, a tab too."""
    return '"' + printable(text, limit=LONGEST_SHOWN).replace("\t", "\\t") + '"'


def kind(value: object) -> str:
    """What a value is, without what it says: for places where secrets may stand."""
    return next((word for types, word in KINDS if isinstance(value, types)), "something else")


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`; did you mean "ct200"?`, or `` where nothing is near."""
    from difflib import get_close_matches  # noqa: PLC0415 - needed for errors alone

    by_folded = {name.lower(): name for name in known}
    near = get_close_matches(word.lower(), by_folded, n=1, cutoff=CLOSE_ENOUGH)
    return f"; did you mean {shown(by_folded[near[0]])}?" if near else ""


def listed(names: Iterable[str]) -> str:
    """`"a", "b"`; the first few of many; `none` of none."""
    every = [shown(name) for name in names]
    more = len(every) - MOST_LISTED
    return ", ".join([*every[:MOST_LISTED], *([f"and {more} more"] if more > 0 else [])]) or "none"


def proposal(word: str, known: Iterable[str], plural: str) -> str:
    """What to write in place of `word`: the nearest name, or the list to choose from."""
    names = list(known)
    return did_you_mean(word, names) or f"; the {plural} are: {listed(names)}"
