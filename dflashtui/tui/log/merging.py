"""Pages of several journals as one. Pure."""

from __future__ import annotations

from heapq import merge
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from dflashtui.model.journal import JournalItem
    from dflashtui.tui.log.record import Source

    Pages = Mapping[Source, Sequence[JournalItem]]


class Merged(NamedTuple):
    """Items in one order of time, each with its source."""

    items: tuple[JournalItem, ...]
    sources: tuple[Source, ...]


def merged(pages: Pages) -> Merged:
    """By time; within one journal its own order, for a clock may jump."""
    streams = [_timed(source, items) for source, items in pages.items()]
    together = list(merge(*streams, key=lambda one: one[0]))
    return Merged(tuple(item for _, item, _ in together), tuple(source for _, _, source in together))


def merged_older(pages: Pages, asked: int) -> Merged:
    """Older pages of all sources, down to where each of them is known: below that one may still have lines to come."""
    floors = [items[0].at for items in pages.values() if len(items) >= asked]
    floor = max(floors, default=None)
    kept = {source: [item for item in items if floor is None or item.at >= floor] for source, items in pages.items()}
    return merged(kept)


def merged_around(pages: Pages, at: datetime, lines: int) -> Merged:
    """So many items on both sides of a moment."""
    whole = merged(pages)
    place = next((place for place, item in enumerate(whole.items) if item.at >= at), len(whole.items))
    part = slice(max(0, place - lines), place + lines)
    return Merged(whole.items[part], whole.sources[part])


def _timed(source: Source, items: Sequence[JournalItem]) -> list[tuple[datetime, JournalItem, Source]]:
    timed: list[tuple[datetime, JournalItem, Source]] = []
    for item in items:
        at = max(item.at, timed[-1][0]) if timed else item.at
        timed.append((at, item, source))
    return timed
