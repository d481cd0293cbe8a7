"""Lines of a run that journald could not give their invocation id. Pure.

journald looks the id up by the process that opened the stream (journald-context.c). On a busy host a program that dies
at once is gone by then: its lines carry `_SYSTEMD_UNIT`, which the stream itself told, and no `_SYSTEMD_INVOCATION_ID`.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from dflashtui.model.journal import JournalEntry

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from dflashtui.model.journal import JournalItem

MICROSECOND = timedelta(microseconds=1)
EARLY = timedelta(seconds=1)
"""The manager's word of a start may be taken in after the first lines: they come by different sockets."""


def has_own_lines(items: Iterable[JournalItem]) -> bool:
    """Whether the service itself said anything."""
    return any(isinstance(item, JournalEntry) and not item.from_manager for item in items)


def adopted(run: Sequence[JournalItem], of_unit: Sequence[JournalItem], invocation_id: str) -> tuple[JournalItem, ...]:
    """A run with the lines that no run claims and that stand among its own; `of_unit`: the newest items of the unit.

    Both in the journal's order, which alone counts: a clock may be set between any two lines.
    """
    known = {item.cursor for item in run if item.cursor}
    began = next((place for place, item in enumerate(of_unit) if item.cursor in known), None)
    if began is None:
        return tuple(run)
    first, end = _reach(of_unit, began, invocation_id)
    here = {item.cursor for item in of_unit if item.cursor}
    before = (item for item in run if item.cursor not in here)
    return (*before, *_merged(of_unit, known, invocation_id, range(first, end)))


def _reach(of_unit: Sequence[JournalItem], began: int, invocation_id: str) -> tuple[int, int]:
    """From where to where lines may be the run's: between those of other runs, and not long before its first."""
    others = [place for place, item in enumerate(of_unit) if _is_of_other_run(item, invocation_id)]
    after_others = max((place + 1 for place in others if place < began), default=0)
    first = began
    while first > after_others and _is_shortly_before(of_unit[first - 1], of_unit[began]):
        first -= 1
    return first, min((place for place in others if place > began), default=len(of_unit))


def _merged(
    of_unit: Sequence[JournalItem], known: Collection[str], invocation_id: str, reach: range
) -> Iterator[JournalItem]:
    for place, item in enumerate(of_unit):
        if item.cursor in known:
            yield item
        elif place in reach and isinstance(item, JournalEntry) and _is_orphan(item):
            yield item.model_copy(update={"invocation_id": invocation_id})


def _is_of_other_run(item: JournalItem, invocation_id: str) -> bool:
    return isinstance(item, JournalEntry) and item.invocation_id not in {None, invocation_id}


def _is_orphan(entry: JournalEntry) -> bool:
    return entry.invocation_id is None and not entry.from_manager


def _is_shortly_before(item: JournalItem, first: JournalItem) -> bool:
    """By the clock of the boot, which nobody sets."""
    if not isinstance(item, JournalEntry) or not isinstance(first, JournalEntry):
        return False
    if item.monotonic_usec is None or first.monotonic_usec is None:
        return first.at - item.at <= EARLY
    return item.boot_id == first.boot_id and first.monotonic_usec - item.monotonic_usec <= EARLY // MICROSECOND
