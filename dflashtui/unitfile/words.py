"""A value taken apart into words as systemd takes it apart (`extract_first_word`, `cunescape`; systemd.syntax(7))."""

from __future__ import annotations

import re
from dataclasses import dataclass

BLANKS = " \t\n\r"
SIMPLE = {
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
    "s": " ",
    **{char: char for char in "\\\"'"},
}
CODED = re.compile(r"x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|([0-3][0-7]{2})")
LARGEST_CODE = 0x10FFFF


class UnbalancedQuotes(ValueError):
    """A quote is opened and never closed: systemd refuses the whole line."""


@dataclass(frozen=True, slots=True)
class Word:
    """One word."""

    text: str
    """Without quotes and escapes."""
    raw: str
    """As it is written."""
    has_unknown_escape: bool = False
    """`\\q`: kept as it is, with a warning."""

    @property
    def quotes_inside(self) -> bool:
        """Quotes stand in the middle of it, where they vanish."""
        return self.raw[:1] not in {'"', "'"} and any(quote in _unescaped(self.raw) for quote in "\"'")


def words(value: str) -> tuple[Word, ...]:
    """Every word. Raises `UnbalancedQuotes`."""
    found, at = [], _past_blanks(value, 0)
    while at < len(value):
        word, at = _word(value, at)
        found.append(word)
        at = _past_blanks(value, at)
    return tuple(found)


def _past_blanks(value: str, at: int) -> int:
    while at < len(value) and value[at] in BLANKS:
        at += 1
    return at


def _word(value: str, start: int) -> tuple[Word, int]:
    parts: list[str] = []
    quote, at, is_odd = "", start, False
    while at < len(value) and (quote or value[at] not in BLANKS):
        char = value[at]
        at += 1
        if char == quote:
            quote = ""
        elif not quote and char in "\"'":
            quote = char
        elif char == "\\":
            text, at, is_known = _unescape(value, at)
            parts.append(text)
            is_odd |= not is_known
        else:
            parts.append(char)
    if quote:
        raise UnbalancedQuotes(f"a {quote} is opened and not closed")
    return Word("".join(parts), value[start:at], is_odd), at


def _unescape(value: str, at: int) -> tuple[str, int, bool]:
    """What a backslash before `at` stands for, where the text goes on, and whether systemd knows it."""
    if at < len(value) and value[at] in SIMPLE:
        return SIMPLE[value[at]], at + 1, True
    coded = CODED.match(value, at)
    code = int(coded[coded.lastindex or 0], 8 if coded[4] else 16) if coded else 0
    if coded and 0 < code <= LARGEST_CODE and not 0xD800 <= code <= 0xDFFF:  # noqa: PLR2004 - surrogates
        return chr(code), coded.end(), True
    return "\\" + value[at : at + 1], at + 1, False


def _unescaped(raw: str) -> str:
    return re.sub(r"\\.", "", raw)
