"""Records as plain text, for files and for the clipboard. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflashtui.text import printable

if TYPE_CHECKING:
    from dflashtui.tui.log.record import Record

OURS = "dflashtui"
LONGEST_IDENTIFIER = 64


def plain(record: Record) -> str:
    """`2026-12-01T03:00:09.000732Z python: text`, in UTC.

    Lines after the first are indented, so that no text of a host can look like an entry of its own.
    """
    first, *rest = record.texts
    folded = f" (× {record.count})" if record.count > 1 and record.item is not None else ""
    who = (record.entry.syslog_identifier or "-") if record.entry else OURS
    head = f"{record.at:%Y-%m-%dT%H:%M:%S.%f}Z {printable(who, limit=LONGEST_IDENTIFIER)}: {first}{folded}"
    return "\n".join([head, *(f"    {text}" for text in rest)])
