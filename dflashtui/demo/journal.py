"""The journal of a simulated service: written when somebody reads it."""

from __future__ import annotations

from heapq import merge
from typing import TYPE_CHECKING

from dflashtui.demo.clock import moment
from dflashtui.demo.run import SECOND_USEC, lines
from dflashtui.model.journal import JournalEntry

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dflashtui.demo.line import Line
    from dflashtui.demo.service import Service

FIRST_WINDOW_USEC = 60 * SECOND_USEC
SEQNUM_ID = "6f1c2d3e4a5b46978899aabbccddeeff"
BOOT_ID = "0f1e2d3c4b5a69788796a5b4c3d2e1f0"


def between(service: Service, after_usec: int, until_usec: int) -> Iterator[JournalEntry]:
    """What was written after one moment and until another, in order."""
    said = (line for line in service.written if after_usec < line.at_usec <= until_usec)
    for line in merge(said, _written(service, after_usec, until_usec), key=lambda line: line.at_usec):
        yield _entry(service, line)


def said(service: Service, until_usec: int) -> Iterator[JournalEntry]:
    """What the manager said about the unit until a moment, in order."""
    for line in sorted(service.written, key=lambda line: line.at_usec):
        if line.at_usec <= until_usec:
            yield _entry(service, line)


def _written(service: Service, after_usec: int, until_usec: int) -> Iterator[Line]:
    for run, ended in service.runs:
        last = until_usec if ended is None else min(until_usec, int(ended * SECOND_USEC))
        if run.started * SECOND_USEC <= until_usec and last > after_usec:
            yield from lines(service.plan, run, after_usec, last)


def before(service: Service, until_usec: int, count: int, invocation_id: str | None = None) -> tuple[JournalEntry, ...]:
    """The last `count` entries until a moment, oldest first; reads back until there are enough or nothing is left."""
    oldest = _oldest_usec(service)
    if invocation_id is not None:
        until_usec = min(until_usec, _end_usec(service, invocation_id, until_usec))
    window = FIRST_WINDOW_USEC
    while True:
        found = [
            entry
            for entry in between(service, until_usec - window, until_usec)
            if invocation_id in {None, entry.invocation_id}
        ]
        if len(found) >= count or until_usec - window < oldest:
            return tuple(found[-count:])
        window *= 4


def _end_usec(service: Service, invocation_id: str, now_usec: int) -> int:
    """A second after a run ended, for its manager speaks last."""
    ends = [ended for run, ended in service.runs if run.invocation_id == invocation_id and ended is not None]
    return int((ends[0] + 1) * SECOND_USEC) if ends else now_usec


def _oldest_usec(service: Service) -> int:
    run_starts = [int(run.started * SECOND_USEC) for run, _ in service.runs]
    said = [line.at_usec for line in service.written]
    return min([*run_starts, *said], default=0) if run_starts or said else 2**63


def usec_of(cursor: str) -> int:
    """The moment that a cursor stands for. Raises `ValueError` for a cursor of another journal."""
    fields = dict(part.partition("=")[::2] for part in cursor.split(";"))
    if "t" not in fields:
        raise ValueError(cursor)
    return int(fields["t"], 16)


def _entry(service: Service, line: Line) -> JournalEntry:
    return JournalEntry(
        cursor=f"s={SEQNUM_ID};i={line.at_usec - 1_700_000_000_000_000:x};b={BOOT_ID};t={line.at_usec:x}",
        at=moment(line.at_usec / SECOND_USEC),
        monotonic_usec=line.at_usec % (10**12),
        priority=line.priority,
        message=line.text,
        unit=service.plan.unit,
        from_manager=line.from_manager,
        invocation_id=line.invocation_id,
        pid=line.pid,
        syslog_identifier=line.identifier,
        transport="journal" if line.from_manager else "stdout",
        message_id=line.message_id,
    )
