"""Long lines that journald cut, put together again. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflashtui.model.journal import JournalEntry

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dflashtui.model.journal import JournalItem

JOINED_LIMIT = 2**20
"""Characters; what is longer stays in pieces."""


def joined(items: Iterable[JournalItem]) -> tuple[JournalItem, ...]:
    """Pieces of one line (`_LINE_BREAK=line-max`, cut at LineMax=48K) as one entry at the first one's place.

    The pieces of a stream follow each other, other streams' entries may stand between. A piece whose
    continuation is not among `items` stays as it is, with `line_break` telling so.
    """
    given: list[JournalItem] = []
    open_at: dict[str, int] = {}
    for item in items:
        stream = item.stream_id if isinstance(item, JournalEntry) else None
        begun = open_at.pop(stream, None) if stream else None
        whole = _together(given[begun], item) if begun is not None else None
        if begun is not None and whole is not None:
            given[begun] = whole
        else:
            begun = len(given)
            given.append(item)
        if stream and _goes_on(item):
            open_at[stream] = begun
    return tuple(given)


def _goes_on(item: JournalItem) -> bool:
    return isinstance(item, JournalEntry) and item.line_break == "line-max"


def _together(first: JournalItem, rest: JournalItem) -> JournalEntry | None:
    if not isinstance(first, JournalEntry) or not isinstance(rest, JournalEntry):
        return None
    if len(first.message) + len(rest.message) > JOINED_LIMIT:
        return None
    return first.model_copy(update={"message": first.message + rest.message, "line_break": rest.line_break})
