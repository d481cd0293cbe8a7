"""Lines of a run that journald could not give their invocation id. Pure.

journald looks the id up by the process that opened the stream (journald-context.c). On a busy host a program that dies
at once is gone by then: its lines carry `_SYSTEMD_UNIT`, which the stream itself told, and no `_SYSTEMD_INVOCATION_ID`.
"""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from dflashtui.model.journal import JournalEntry

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import datetime

    from dflashtui.model.journal import JournalItem

EARLY = timedelta(seconds=1)
"""The manager's word of a start may be taken in after the first lines: they come by different sockets."""


def has_own_lines(items: Iterable[JournalItem]) -> bool:
    """Whether the service itself said anything."""
    return any(isinstance(item, JournalEntry) and not item.from_manager for item in items)


def adopted(run: Sequence[JournalItem], of_unit: Sequence[JournalItem], invocation_id: str) -> tuple[JournalItem, ...]:
    """A run with the lines that no run claims and that stand in its time; `of_unit`: the newest items of the unit."""
    began = min((item.at for item in run), default=None)
    if began is None:
        return tuple(run)
    others = [item.at for item in of_unit if _is_of_other_run(item, invocation_id)]
    first = max((at for at in others if at <= began), default=began - EARLY)
    end = min((at for at in others if at > began), default=None)
    orphans = list(_orphans(of_unit, max(first, began - EARLY), end))
    claimed = (item.model_copy(update={"invocation_id": invocation_id}) for item in orphans)
    return tuple(sorted((*run, *claimed), key=lambda item: item.at))


def _is_of_other_run(item: JournalItem, invocation_id: str) -> bool:
    return isinstance(item, JournalEntry) and item.invocation_id not in {None, invocation_id}


def _orphans(items: Iterable[JournalItem], first: datetime, end: datetime | None) -> Iterator[JournalEntry]:
    for item in items:
        is_orphan = isinstance(item, JournalEntry) and item.invocation_id is None and not item.from_manager
        if isinstance(item, JournalEntry) and is_orphan and first <= item.at and (end is None or item.at < end):
            yield item
