"""A journal item as a line of text or of JSON. Pure."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, assert_never
from zlib import crc32

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
HOST_STYLES = tuple(f"\x1b[{code}m" for code in (36, 35, 32, 33, 34, 95, 96))
"""Never red, which means an error."""
GAP_STYLE = "\x1b[35m"


def short(
    host: str, item: JournalItem, *, timezone: tzinfo | None = None, color: bool = False, has_unit: bool = False
) -> str:
    """As `journalctl -o short`: `Dec 01 04:12:33 gpu-a sglang[123]: text`, without a final newline.

    A gap stands between dashes, a form that no text from a host can take. `timezone`: default the local one.
    `has_unit`: the unit stands after the host. With `color` a host has the same colour at all times.
    """
    unit = f" {printable(item.unit or '-', limit=256).removesuffix('.service')}" if has_unit else ""
    return _line(_stamp(item.at, timezone), host, unit, item, color=color)


def full(
    host: str, item: JournalItem, *, timezone: tzinfo | None = None, color: bool = False, has_unit: bool = True
) -> str:
    """With microseconds, zone, unit and level: `2026-12-01T04:12:33.000001+01:00 gpu-a x.service info p[1]: text`."""
    stamp = item.at.astimezone(timezone).isoformat(timespec="microseconds")
    level = f" {item.priority.name.lower()}" if isinstance(item, JournalEntry) else ""
    unit = f" {printable(item.unit or '-', limit=256)}" if has_unit or item.unit else ""
    return _line(stamp, host, f"{unit}{level}", item, color=color)


def cat(
    _host: str, item: JournalItem, *, timezone: tzinfo | None = None, color: bool = False, has_unit: bool = False
) -> str:
    """The text alone."""
    if isinstance(item, JournalGap):
        return short(_host, item, timezone=timezone, color=color, has_unit=has_unit)
    text = "\n".join(printable(line, limit=LINE_CHARACTERS) for line in item.message.split("\n"))
    return _styled(text, STYLES.get(item.priority, "") if color else "")


FORMS = {"short": short, "full": full, "cat": cat}
"""What `-o` names; `json` is `document`."""


def host_number(host: str, count: int) -> int:
    """Which of so many colours a host has, in every log and every session."""
    return crc32(host.encode("utf-8", "backslashreplace")) % count


def _line(stamp: str, host: str, more: str, item: JournalItem, *, color: bool) -> str:
    match item:
        case JournalEntry():
            style = STYLES.get(item.priority, "") if color else ""
            return _entry(stamp, host, more, item, style, color=color)
        case JournalGap():
            about = f" {printable(item.unit, limit=256)}:" if item.unit else ""
            line = f"-- {stamp} {printable(host)}:{about} {printable(item.text)} --"
            return _styled(line, GAP_STYLE if color else "")
        case _:
            assert_never(item)


def _entry(stamp: str, host: str, more: str, entry: JournalEntry, style: str, *, color: bool) -> str:
    identifier = printable(entry.syslog_identifier or "unknown", limit=256)
    pid = "" if entry.pid is None else f"[{entry.pid}]"
    name = printable(host)
    head = f"{stamp} {name}{more} {identifier}{pid}: "
    lines = [printable(line, limit=LINE_CHARACTERS) for line in entry.message.split("\n")]
    text = ("\n" + " " * len(head)).join(lines)
    if not color or style:
        return _styled(head + text, style)
    hue = HOST_STYLES[host_number(host, len(HOST_STYLES))]
    return f"{stamp} {hue}{name}{RESET}{head[len(stamp) + 1 + len(name) :]}{text}"


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
