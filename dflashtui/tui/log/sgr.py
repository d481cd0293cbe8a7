"""Colours that a service gave its own lines (ECMA-48, SGR): kept as names, everything else is dropped. Pure.

Only the sixteen colours of the foreground, bold, italic and underline are kept. Backgrounds, concealed text, black
and freely chosen colours could make text unreadable, blinking means nothing here: they are dropped.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from dflashtui.text import printable

SGR = re.compile(r"\x1b\[([0-9;]*)m")
COLOURS = ("", "red", "green", "yellow", "blue", "magenta", "cyan", "white")
HOST_STYLES = ("cyan", "magenta", "green", "yellow", "blue", "bright_magenta", "bright_cyan")
"""For the hosts of a merged log, in the terminal's own colours as a service's are; never red, which means an error."""
ATTRIBUTES = {1: "bold", 3: "italic", 4: "underline"}
ATTRIBUTES_OFF = {22: "bold", 23: "italic", 24: "underline"}
FOREGROUND, BRIGHT, EXTENDED, BACKGROUND_EXTENDED, DEFAULT_FOREGROUND = 30, 90, 38, 48, 39
PARAMETERS_OF_EXTENDED = {5: 2, 2: 4}
"""How many numbers follow 38 or 48: an index, or red, green and blue."""


class Span(NamedTuple):
    """A part of a line, and the style that the service asked for, in Rich's words."""

    start: int
    end: int
    style: str


def parsed(text: str, limit: int) -> tuple[str, tuple[Span, ...]]:
    """The text as it may be shown, and where it was coloured."""
    if "\x1b" not in text:
        return printable(text, limit=limit).expandtabs(), ()
    shown, spans = "", []
    colour, attributes = "", frozenset[str]()
    for place, piece in enumerate(SGR.split(text[:limit])):
        if place % 2:
            colour, attributes = _changed(piece, colour, attributes)
            continue
        start = len(shown)
        shown += printable(piece, limit=limit).replace("\t", "    ")
        style = " ".join((*sorted(attributes), colour)).strip()
        if style and len(shown) > start:
            spans.append(Span(start, len(shown), style))
    return shown, tuple(spans)


def _changed(parameters: str, colour: str, attributes: frozenset[str]) -> tuple[str, frozenset[str]]:
    codes = [int(code or 0) for code in parameters.split(";")]
    while codes:
        code = codes.pop(0)
        if code == 0:
            colour, attributes = "", frozenset()
        elif code in {EXTENDED, BACKGROUND_EXTENDED}:
            del codes[: PARAMETERS_OF_EXTENDED.get(codes[0] if codes else 0, 0)]
        elif code in ATTRIBUTES:
            attributes |= {ATTRIBUTES[code]}
        elif code in ATTRIBUTES_OFF:
            attributes -= {ATTRIBUTES_OFF[code]}
        else:
            colour = _colour(code, colour)
    return colour, attributes


def _colour(code: int, colour: str) -> str:
    if code == DEFAULT_FOREGROUND:
        return ""
    if FOREGROUND <= code < FOREGROUND + len(COLOURS):
        return COLOURS[code - FOREGROUND]
    if BRIGHT < code < BRIGHT + len(COLOURS):
        return f"bright_{COLOURS[code - BRIGHT]}"
    return colour
