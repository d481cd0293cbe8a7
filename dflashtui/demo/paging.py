"""Pages of a simulated journal."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from dflashtui.demo import journal
from dflashtui.demo.run import SECOND_USEC

if TYPE_CHECKING:
    from datetime import datetime

    from dflashtui.demo.service import Service
    from dflashtui.model.journal import JournalEntry
    from dflashtui.model.journal_query import JournalQuery

MOST = 10_000
FORWARD_SECONDS = 600
FIELDS = {
    "message": "MESSAGE",
    "priority": "PRIORITY",
    "unit": "_SYSTEMD_UNIT",
    "pid": "_PID",
    "invocation_id": "_SYSTEMD_INVOCATION_ID",
    "syslog_identifier": "SYSLOG_IDENTIFIER",
    "transport": "_TRANSPORT",
    "message_id": "MESSAGE_ID",
    "cursor": "__CURSOR",
}


def page(service: Service, query: JournalQuery, now_usec: int) -> tuple[JournalEntry, ...]:
    """What a query asks for, oldest first."""
    wants = _Wants(query)
    count = query.lines or MOST
    if query.after is not None:
        return _after(service, query, now_usec, count)
    until_usec = now_usec if query.before is None else journal.usec_of(query.before) - 1
    if query.until is not None:
        until_usec = min(until_usec, _usec(query.until))
    if query.message_ids:
        said = journal.said(service, until_usec)
        return tuple(entry for entry in said if wants.fits(entry))[-count:]
    if query.is_forward and query.since is not None:
        first = filter(wants.fits, journal.between(service, _usec(query.since) - 1, until_usec))
        return tuple(islice(first, count))
    if query.since is not None:
        found = tuple(journal.between(service, _usec(query.since) - 1, until_usec))
    else:
        found = journal.before(service, until_usec, count, query.invocation_id)
    return tuple(entry for entry in found if wants.fits(entry))[-count:]


def _after(service: Service, query: JournalQuery, now_usec: int, count: int) -> tuple[JournalEntry, ...]:
    start = journal.usec_of(query.after or "")
    found: list[JournalEntry] = []
    wants = _Wants(query)
    while len(found) < count and start < now_usec:
        end = min(now_usec, start + FORWARD_SECONDS * SECOND_USEC)
        found += [entry for entry in journal.between(service, start, end) if wants.fits(entry)]
        start = end
    return tuple(found[:count])


class _Wants:
    def __init__(self, query: JournalQuery) -> None:
        self._query = query
        words = query.grep or ""
        self._grep = re.compile(words, re.IGNORECASE if words == words.lower() else re.NOFLAG)

    def fits(self, entry: JournalEntry) -> bool:
        query = self._query
        return (
            (query.since is None or entry.at >= query.since)
            and query.invocation_id in {None, entry.invocation_id}
            and (not query.message_ids or entry.message_id in query.message_ids)
            and (query.priority is None or entry.priority <= query.priority)
            and (query.grep is None or self._grep.search(entry.message) is not None)
        )


def fields(service: Service, cursor: str) -> dict[str, str]:
    """Every field of an entry, by journald's names."""
    at_usec = journal.usec_of(cursor)
    entry = next(iter(journal.between(service, at_usec - 1, at_usec)), None)
    values = entry.model_dump(mode="json") if entry else {}
    return {name: str(values[key]) for key, name in FIELDS.items() if values.get(key) is not None}


def _usec(at: datetime) -> int:
    return int(at.timestamp() * SECOND_USEC)
