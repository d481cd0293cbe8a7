"""Journal items for the tests of the log pane."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from dflashtui.model.journal import JournalEntry, JournalGap, Priority

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from dflashtui.model.journal import JournalItem
    from dflashtui.model.journal_query import JournalQuery

START = datetime(2026, 12, 1, 3, 0, tzinfo=UTC)
TRACEBACK = (
    "Traceback (most recent call last):",
    '  File "/opt/sglang/launch_server.py", line 36, in run_server',
    "    from sglang.srt.entrypoints.http_server import launch_server",
    "ModuleNotFoundError: No module named 'soundfile'",
)


def entry(
    number: int, message: str, *, pid: int = 7, priority: Priority = Priority.INFO, from_manager: bool = False
) -> JournalEntry:
    """One entry, `number` seconds after the start."""
    return JournalEntry(
        cursor=f"i={number}",
        at=START + timedelta(seconds=number),
        message=message,
        pid=1 if from_manager else pid,
        priority=priority,
        from_manager=from_manager,
        invocation_id="a" * 32,
        unit="sglang-a.service",
        syslog_identifier="systemd" if from_manager else "python",
    )


def entries(messages: Iterable[str], first: int = 0) -> tuple[JournalEntry, ...]:
    """One entry a second."""
    return tuple(entry(first + place, message) for place, message in enumerate(messages))


def numbered(count: int, first: int = 0) -> tuple[JournalEntry, ...]:
    """`line 0`, `line 1`, …"""
    return entries((f"line {first + place}" for place in range(count)), first)


def page_of(journal: Sequence[JournalItem], query: JournalQuery) -> tuple[JournalItem, ...]:
    """What a host with this journal would answer, by the cursors' places."""
    cursors = [item.cursor for item in journal]
    first = cursors.index(query.after) + 1 if query.after else 0
    last = cursors.index(query.before) if query.before else len(journal)
    fitting = [item for item in journal[first:last] if _fits(item, query)]
    count = query.lines or len(fitting)
    return tuple(fitting[:count] if query.is_forward else fitting[-count:])


def _fits(item: JournalItem, query: JournalQuery) -> bool:
    in_time = (query.since is None or item.at >= query.since) and (query.until is None or item.at <= query.until)
    entry = item if isinstance(item, JournalEntry) else None
    return (
        in_time
        and (not query.grep or (entry is not None and re.search(query.grep, entry.message) is not None))
        and (not query.message_ids or (entry is not None and entry.message_id in query.message_ids))
        and (not query.invocation_id or (entry is not None and entry.invocation_id == query.invocation_id))
    )


def gap(number: int, reason: str = "journal rotated while the link was down") -> JournalGap:
    """A gap, `number` seconds after the start."""
    return JournalGap(at=START + timedelta(seconds=number), reason=reason)
