"""Equal lines in a row, and the states of one progress bar, as one record. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dflashtui.tui.log.record import Record


def fold(last: Record, record: Record) -> bool:
    """Take an equal line, or the next state of the same progress bar, into the last record; whether that was so."""
    before, entry = last.entry, record.entry
    if before is None or entry is None or before.pid != entry.pid or last.source != record.source:
        return False
    if last.is_in_block or last.is_marked:
        return False
    if last.texts == record.texts and last.level == record.level:
        last.count += 1
    elif last.progress is not None and last.progress == record.progress:
        last.count += 1
        last.texts, last.spans, last.level = record.texts, record.spans, min(last.level, record.level)
    else:
        return False
    last.item, last.last_at = entry, entry.at
    return True
