"""A page of a unit's journal: its command, and what that printed. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflashtui.source.journal_argv import JSON, invocation_matches, manager_matches, unit_matches
from dflashtui.source.journal_history import HISTORY_LIMIT_BYTES, forward_items, history_items

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from dflashtui.model.journal import JournalItem
    from dflashtui.model.journal_query import JournalQuery
    from dflashtui.source.journal_argv import JournalAccess
    from dflashtui.transport.base import Completed


OPEN_LIMIT_BYTES = 2**20


def page_argv(access: JournalAccess, unit: str, query: JournalQuery) -> tuple[str, ...]:
    """Newest first, or with `after` oldest first; a cursor's own entry comes first if it matches: one more is asked."""
    way = () if query.is_forward else ("--reverse",)
    return access.argv(*JSON, *way, *_options(query), *_matches(access, unit, query))


def _options(query: JournalQuery) -> Iterator[str]:
    """A cursor and `--since` exclude each other (journalctl(1)): the cursor's place wins."""
    cursor = query.after or query.before
    if cursor:
        yield f"--cursor={cursor}"
    # beside `--since`, systemd 252 takes `--lines` as the first ones, 255 as the last: the answer's size is the bound
    if query.lines is not None and not _is_open(query):
        yield f"--lines={query.lines + 1 if cursor else query.lines}"
    if query.since and not cursor:
        yield f"--since={_stamp(query.since)}"
    if query.until:
        yield f"--until={_stamp(query.until)}"
    if query.grep:
        yield f"--grep={query.grep}"
    if query.priority is not None:
        yield f"--priority={int(query.priority)}"


def limit_bytes(query: JournalQuery) -> int:
    """How much of the answer is read."""
    return OPEN_LIMIT_BYTES if _is_open(query) else HISTORY_LIMIT_BYTES


def _is_open(query: JournalQuery) -> bool:
    return query.is_forward and query.after is None


def _stamp(at: datetime) -> str:
    """systemd.time(7): `@` and seconds; 252 takes a fraction too."""
    return f"@{at.timestamp():.6f}"


def _matches(access: JournalAccess, unit: str, query: JournalQuery) -> tuple[str, ...]:
    if query.message_ids:
        return manager_matches(unit, query.message_ids, access)
    if query.invocation_id:
        return invocation_matches(query.invocation_id, access)
    return unit_matches((unit,), access)


def page_items(done: Completed, unit: str, access: JournalAccess, query: JournalQuery) -> tuple[JournalItem, ...]:
    """Oldest first."""
    if query.is_forward:
        return forward_items(done, unit, access.manager, lines=query.lines, after=query.after)
    return history_items(done, unit, access.manager, lines=query.lines, before=query.before)
