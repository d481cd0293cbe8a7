"""Text in pieces, each with a tone: what every list, header and detail is drawn from. Pure.

A tone is a space-separated list of words; `STYLES` says which theme variable or text style each word means, so
that no widget names a colour.
"""

from __future__ import annotations

from bisect import bisect_left
from functools import lru_cache
from typing import TYPE_CHECKING

from rich.cells import cell_len, set_cell_size

if TYPE_CHECKING:
    from collections.abc import Iterable

Cell = tuple[tuple[str, str], ...]
"""Pieces of one line: text that is safe to print, and its tone."""

STYLES = {
    "ok": "$role-ok",
    "busy": "$role-busy",
    "warn": "$role-warn",
    "bad": "$role-bad",
    "off": "$role-off",
    "stale": "$role-stale",
    "dim": "$tone-dim",
    "accent": "$tone-accent",
    "title": "$tone-title bold",
    "match": "$tone-match-text on $tone-match",
    "badge": "$tone-badge-text on $tone-badge bold",
    "strong": "bold",
    "under": "underline",
}
ROLES = ("ok", "busy", "warn", "bad", "off", "stale")
EMPTY: Cell = ()
MIDDLE_NEEDS = 5
"""Below this width a name has no two ends to show."""


def cell(text: str, tone: str = "") -> Cell:
    """One piece."""
    return ((text, tone),)


def join(parts: Iterable[Cell], separator: str = "  ", tone: str = "dim") -> Cell:
    """The parts that are not empty, with a separator between them."""
    joined: list[tuple[str, str]] = []
    for part in parts:
        if not part:
            continue
        if joined:
            joined.append((separator, tone))
        joined.extend(part)
    return tuple(joined)


def plain(pieces: Cell) -> str:
    """The text alone."""
    return "".join(text for text, _ in pieces)


def measured(pieces: Cell) -> int:
    """Width in terminal cells."""
    return sum(map(cell_len, (text for text, _ in pieces)))


def toned(pieces: Cell, tone: str) -> Cell:
    """All pieces in one tone: a value that is old is dimmed, its glyph and word stay."""
    return tuple((text, tone) for text, _ in pieces)


def untabbed(pieces: Cell) -> Cell:
    """With a blank for each tab: a terminal would jump to a column that nobody counted."""
    if not any("\t" in text for text, _ in pieces):
        return pieces
    return tuple((text.replace("\t", " "), tone) for text, tone in pieces)


def cut(pieces: Cell, width: int) -> Cell:
    """At most `width` cells, with `…` where something is missing at the end."""
    pieces = untabbed(pieces)
    if measured(pieces) <= width:
        return pieces
    if width <= 0:
        return EMPTY
    kept: list[tuple[str, str]] = []
    left = width - 1
    for text, tone in pieces:
        size = cell_len(text)
        if size > left:
            return (*kept, (set_cell_size(text, left) + "…", tone))
        kept.append((text, tone))
        left -= size
    return tuple(kept)


def cut_middle(pieces: Cell, width: int) -> Cell:
    """At most `width` cells, with `…` in the middle; the tone of the first piece holds for all."""
    pieces = untabbed(pieces)
    if measured(pieces) <= width or not pieces:
        return pieces
    text, tone = plain(pieces), pieces[0][1]
    if width < MIDDLE_NEEDS:
        return cut(pieces, width)
    left = set_cell_size(text, width // 2)
    right = _tail(text, width - width // 2 - 1)
    return ((f"{left}…{right}", tone),)


def _tail(text: str, width: int) -> str:
    """The last `width` cells; a wide character that would be halved becomes a blank."""
    start = bisect_left(range(len(text)), -width, key=lambda place: -cell_len(text[place:]))
    return " " * (width - cell_len(text[start:])) + text[start:]


def fitted(pieces: Cell, width: int, align: str = "left") -> Cell:
    """Exactly `width` cells."""
    short = cut(pieces, width)
    gap = width - measured(short)
    if gap <= 0:
        return short
    blank = ((" " * gap, ""),)
    return (*blank, *short) if align == "right" else (*short, *blank)


@lru_cache(maxsize=512)
def style_of(tone: str) -> str:
    """The style that Textual knows for a tone."""
    return " ".join(STYLES[word] for word in tone.split())
