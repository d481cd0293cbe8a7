"""Records as plain text, JSON lines or journal export, for files and for the clipboard. Pure."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from dflashtui.text import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime

    from dflashtui.model.journal import JournalEntry, JournalItem
    from dflashtui.tui.log.record import Record, Source

OURS = "dflashtui"
LONGEST_IDENTIFIER = 64
EXPORT_FIELDS = {
    "message": "MESSAGE",
    "priority": "PRIORITY",
    "syslog_identifier": "SYSLOG_IDENTIFIER",
    "message_id": "MESSAGE_ID",
    "unit": "_SYSTEMD_UNIT",
    "invocation_id": "_SYSTEMD_INVOCATION_ID",
    "pid": "_PID",
    "transport": "_TRANSPORT",
    "boot_id": "_BOOT_ID",
    "stream_id": "_STREAM_ID",
}


class Form(StrEnum):
    """How a log is saved, by the end of the file's name."""

    TEXT = "text"
    JSON = "json lines"
    EXPORT = "journal export"


ENDINGS = {".json": Form.JSON, ".jsonl": Form.JSON, ".export": Form.EXPORT}


def form_of(ending: str) -> Form:
    """`.jsonl`: JSON lines, `.export`: what `systemd-journal-remote` reads; else text."""
    return ENDINGS.get(ending, Form.TEXT)


def saved(records: Iterable[Record], form: Form, place: Source) -> bytes:
    """What is shown, one after another. `place`: of records that carry none."""
    match form:
        case Form.TEXT:
            return "".join(f"{plain(record)}\n" for record in records).encode()
        case Form.JSON:
            return "".join(f"{as_json(one.item)}\n" for one in records if one.item is not None).encode()
        case Form.EXPORT:
            return b"".join(_exported(one.entry, one.source or place) for one in records if one.entry is not None)


def plain(record: Record) -> str:
    """`2026-12-01T03:00:09.000732Z python: text`, in UTC, with the host before it in a merged log.

    Lines after the first are indented, so that no text of a host can look like an entry of its own.
    """
    first, *rest = record.texts
    folded = f" (× {record.count})" if record.count > 1 and record.item is not None else ""
    who = (record.entry.syslog_identifier or "-") if record.entry else OURS
    host = f"{printable(record.source.host, limit=64)} " if record.source else ""
    head = f"{_stamp(record.at)} {host}{printable(who, limit=LONGEST_IDENTIFIER)}: {first}{folded}"
    return "\n".join([head, *(f"    {text}" for text in rest)])


def shown(record: Record) -> str:
    """The text alone, as it is on screen."""
    return "\n".join(record.texts)


def as_json(item: JournalItem) -> str:
    """One document on one line; text is the original one."""
    return item.model_dump_json()


def _stamp(at: datetime) -> str:
    return f"{at:%Y-%m-%dT%H:%M:%S.%f}Z"


def _exported(entry: JournalEntry, place: Source) -> bytes:
    """The Journal Export Format of systemd: a field a line, with a length before text that has control characters."""
    return b"".join((*_fields(entry, place), b"\n"))


def _fields(entry: JournalEntry, place: Source) -> Iterator[bytes]:
    yield _field("__CURSOR", entry.cursor)
    yield _field("__REALTIME_TIMESTAMP", str(int(entry.at.timestamp() * 1_000_000)))
    if entry.monotonic_usec is not None:
        yield _field("__MONOTONIC_TIMESTAMP", str(entry.monotonic_usec))
    yield _field("_HOSTNAME", place.host)
    for name, field in EXPORT_FIELDS.items():
        value = getattr(entry, name)
        if value is not None:
            yield _field(field, str(int(value) if name == "priority" else value))


def _field(name: str, value: str) -> bytes:
    data = value.encode("utf-8", "surrogateescape")
    if all(char.isprintable() or char == "\t" for char in value):
        return b"%b=%b\n" % (name.encode(), data)
    return b"%b\n%b%b\n" % (name.encode(), len(data).to_bytes(8, "little"), data)
