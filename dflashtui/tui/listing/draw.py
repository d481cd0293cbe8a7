"""One line of a list as a strip: the only place where tones become terminal styles."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.segment import Segment
from rich.style import Style as RichStyle
from textual.strip import Strip
from textual.style import Style

from dflashtui.tui.guard import guarded
from dflashtui.tui.listing.table import GAP, Row, Slot
from dflashtui.tui.styled import Cell, cell, cut_middle, fitted, measured, style_of

if TYPE_CHECKING:
    from collections.abc import Iterator

GUTTER = 2
"""Cells left of the first column: cursor and mark, so that neither is colour alone."""


class Painter:
    """Turns cells into strips, in the colours of the theme of now."""

    def __init__(self, variables: dict[str, str]) -> None:
        """`variables`: the CSS variables of the theme."""
        self._variables = variables
        self._styles: dict[str, RichStyle] = {}

    def style(self, tone: str) -> RichStyle:
        """The terminal style of a tone; foreground, and background where the tone has one."""
        known = self._styles.get(tone)
        if known is None:
            known = Style.parse(style_of(tone), self._variables).rich_style if tone else RichStyle()
            self._styles[tone] = known
        return known

    def strip(self, pieces: Cell, base: RichStyle, width: int) -> Strip:
        """Pieces on a base style, padded to `width` cells."""
        safe = guarded(pieces)
        segments = [Segment(text, base + self.style(tone)) for text, tone in safe if text]
        return Strip(segments, measured(safe)).adjust_cell_length(width, base)


def row_pieces(row: Row, columns: tuple[Slot, ...], gutter: str, width: int) -> Cell:
    """A row laid out in its columns."""
    if row.heading:
        return fitted(((gutter, ""), *row.cells[0]), width)
    return ((gutter, "accent"), *_between(_fitted(row, slot) for slot in columns))


def title_pieces(columns: tuple[Slot, ...], sort_position: int | None, arrow: str) -> Cell:
    """The line of column titles; the one that is sorted by has an arrow."""
    titles = (
        fitted(
            cell(slot.column.title + (arrow if slot.position == sort_position else "")), slot.width, slot.column.align
        )
        for slot in columns
    )
    return ((" " * GUTTER, ""), *_between(titles))


def _fitted(row: Row, slot: Slot) -> Cell:
    pieces = row.cells[slot.position]
    if slot.column.middle and measured(pieces) > slot.width:
        pieces = cut_middle(pieces, slot.width)
    return fitted(pieces, slot.width, slot.column.align)


def _between(parts: Iterator[Cell]) -> Iterator[tuple[str, str]]:
    for place, part in enumerate(parts):
        if place:
            yield " " * GAP, ""
        yield from part
