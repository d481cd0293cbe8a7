"""What was fetched for a place where lines are missing, cut to what belongs there. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from dflashtui.source.journal_place import place, stands_at_or_before

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dflashtui.model.journal import JournalItem


class Filling(NamedTuple):
    """Lines for a hole."""

    items: tuple[JournalItem, ...]
    is_whole: bool
    """Nothing is missing there any more."""


def newer_part(items: Sequence[JournalItem], after: str | None, asked: int) -> Filling:
    """A page that ends where the hole ends: without what stands before the hole."""
    known = [number for number, item in enumerate(items) if after and item.cursor and _is_up_to(item.cursor, after)]
    first = known[-1] + 1 if known else 0
    return Filling(tuple(items[first:]), first > 0 or len(items) < asked)


def older_part(items: Sequence[JournalItem], before: str | None) -> Filling:
    """A page that begins where the hole begins: without what stands after the hole. An empty page is its end."""
    known = (number for number, item in enumerate(items) if before and item.cursor and _is_up_to(before, item.cursor))
    last = next(known, len(items))
    return Filling(tuple(items[:last]), not items or last < len(items))


def _is_up_to(cursor: str, mark: str) -> bool:
    return cursor == mark or stands_at_or_before(cursor, place(mark))
