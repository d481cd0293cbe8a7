"""A journal item as a line of text or of JSON. Pure."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, assert_never

from dflashtui.model.journal import JournalEntry, JournalGap, Priority
from dflashtui.text import printable

if TYPE_CHECKING:
    from datetime import datetime, tzinfo

    from dflashtui.model.journal import JournalItem

LINE_CHARACTERS = 2**20
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
RESET = "\x1b[0m"
STYLES = {
    Priority.EMERG: "\x1b[1;31m",
    Priority.ALERT: "\x1b[1;31m",
    Priority.CRIT: "\x1b[1;31m",
    Priority.ERR: "\x1b[31m",
    Priority.WARNING: "\x1b[33m",
    Priority.NOTICE: "\x1b[1m",
    Priority.DEBUG: "\x1b[2m",
}
GAP_STYLE = "\x1b[35m"


def short(host: str, item: JournalItem, *, timezone: tzinfo | None = None, color: bool = False) -> str:
    """As `journalctl -o short`: `Dec 01 04:12:33 gpu-a sglang[123]: text`, without a final newline.

    A gap stands between dashes, a form that no text from a host can take. `timezone`: default the local one.
    """
    match item:
        case JournalEntry():
            return _styled(_entry(host, item, timezone), STYLES.get(item.priority, "") if color else "")
        case JournalGap():
            about = f" {printable(item.unit, limit=256)}:" if item.unit else ""
            line = f"-- {_stamp(item.at, timezone)} {printable(host)}:{about} {printable(item.text)} --"
            return _styled(line, GAP_STYLE if color else "")
        case _:
            assert_never(item)


def _entry(host: str, entry: JournalEntry, timezone: tzinfo | None) -> str:
    identifier = printable(entry.syslog_identifier or "unknown", limit=256)
    pid = "" if entry.pid is None else f"[{entry.pid}]"
    head = f"{_stamp(entry.at, timezone)} {printable(host)} {identifier}{pid}: "
    lines = [printable(line, limit=LINE_CHARACTERS) for line in entry.message.split("\n")]
    return head + ("\n" + " " * len(head)).join(lines)


def _stamp(at: datetime, timezone: tzinfo | None) -> str:
    """Months in English whatever the locale, as journalctl has it."""
    local = at.astimezone(timezone)
    return f"{MONTHS[local.month - 1]} {local:%d %H:%M:%S}"


def _styled(line: str, style: str) -> str:
    return f"{style}{line}{RESET}" if style else line


def document(host: str, item: JournalItem) -> str:
    """One JSON document on one line, ASCII only; text is the original one, not cleaned."""
    common = {"schema": 1, "kind": item.kind, "host": host, "unit": item.unit, "at": _rfc3339(item.at)}
    match item:
        case JournalEntry():
            more = _entry_fields(item)
        case JournalGap():
            more = {"reason": item.reason, "entries_lost": item.entries_lost, "cursor": item.cursor}
        case _:
            assert_never(item)
    return json.dumps(common | more)


def _entry_fields(entry: JournalEntry) -> dict[str, object]:
    return {
        "message": entry.message,
        "priority": int(entry.priority),
        "syslog_identifier": entry.syslog_identifier,
        "pid": entry.pid,
        "invocation_id": entry.invocation_id,
        "boot_id": entry.boot_id,
        "cursor": entry.cursor,
    }


def _rfc3339(at: datetime) -> str:
    return at.isoformat(timespec="microseconds").replace("+00:00", "Z")
