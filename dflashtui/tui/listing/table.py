"""What a list shows: its columns, and how they share the width. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dflashtui.tui.styled import Cell
    from dflashtui.tui.subject import Subject

GAP = 2
"""Blank cells between two columns."""
NAMES = 1
"""Columns up to this `keep` say what a row is and how it is: the others give way before these are cut."""
COMFORT = 22
"""Up to so many cells each."""


class Column(NamedTuple):
    """One column. It is dropped on narrow terminals in the order of `keep`, highest first; 0 stays always."""

    id: str
    title: str
    width: int
    """At least so many cells."""
    most: int = 0
    """At most so many when there is room; 0: `width`."""
    align: str = "left"
    keep: int = 0
    middle: bool = False
    """Cut in the middle, for both ends of a name matter."""
    is_measured: bool = False
    """As wide as its widest cell needs, between `width` and `most`; it may grow while rows stay, and never shrinks."""
    letter: str = ""
    """Key that sorts by this column, after `o`."""


class Table(NamedTuple):
    """The columns of a list, and its words."""

    noun: str
    """Plural: `units`."""
    columns: tuple[Column, ...]
    empty: str
    """What is said when there is no row at all."""


class Row(NamedTuple):
    """One row. `cells` and `values` follow the table's columns; a value of `None` is unknown and sorts last."""

    key: Subject
    cells: tuple[Cell, ...]
    values: tuple[float | str | None, ...] = ()
    text: str = ""
    """What a filter searches, in lower case."""
    group: str | None = None
    problem: bool = False
    heading: bool = False
    """The title of a group; it stands before the rows of that group."""


class Slot(NamedTuple):
    """A column that is shown, and its width now."""

    position: int
    column: Column
    width: int


def slots(columns: tuple[Column, ...], width: int, widest: Mapping[int, int]) -> tuple[Slot, ...]:
    """The columns that fit into `width` cells; what is left goes evenly to those that can use it.

    `widest`: by position, the widest cell of columns that hold names; they need no more.
    """
    wanted = {
        position: min(max(column.most, column.width), max(column.width, widest.get(position, column.most)))
        for position, column in enumerate(columns)
    }
    comfort = {
        position: min(wanted[position], COMFORT) for position, column in enumerate(columns) if column.keep <= NAMES
    }
    kept = _kept(list(enumerate(columns)), width, comfort, NAMES + 1)
    kept = _kept(kept, width, {}, 0)
    widths = _shared({position: column.width for position, column in kept}, wanted, width - _needed(kept, {}))
    return _squeezed([Slot(position, column, widths[position]) for position, column in kept], width)


def _kept(
    columns: list[tuple[int, Column]], width: int, wishes: Mapping[int, int], least: int
) -> list[tuple[int, Column]]:
    """Without the columns that there is no room for; those up to `least` are not given up."""
    kept = list(columns)
    while len(kept) > 1 and _needed(kept, wishes) > width:
        worst = max(kept, key=lambda item: (item[1].keep, item[0]))
        if worst[1].keep <= least:
            break
        kept.remove(worst)
    return kept


def _shared(widths: dict[int, int], wanted: Mapping[int, int], spare: int) -> dict[int, int]:
    """One cell each in turn to all that still want some."""
    while spare > 0 and (hungry := [position for position in widths if widths[position] < wanted[position]]):
        for position in hungry[:spare]:
            widths[position] += 1
        spare -= len(hungry)
    return widths


def _needed(kept: list[tuple[int, Column]], wishes: Mapping[int, int]) -> int:
    return sum(wishes.get(position, column.width) for position, column in kept) + GAP * (len(kept) - 1)


def _squeezed(shown: list[Slot], width: int) -> tuple[Slot, ...]:
    """Columns that must stay give up width from the widest on, so that nothing runs off the edge."""
    over = sum(slot.width for slot in shown) + GAP * (len(shown) - 1) - width
    while over > 0:
        widest = max(range(len(shown)), key=lambda at: shown[at].width)
        slot = shown[widest]
        if slot.width <= 1:
            break
        shown[widest] = Slot(slot.position, slot.column, slot.width - 1)
        over -= 1
    return tuple(shown)
