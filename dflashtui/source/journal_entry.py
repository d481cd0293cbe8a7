"""One line of `journalctl --output=json` as a value, secrets in its text masked. Pure, about 12 µs a line."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError
from pydantic_core import from_json

from dflashtui.errors import DecodeError
from dflashtui.mask import masked
from dflashtui.model.journal import JournalEntry, JournalGap, JournalItem, Priority
from dflashtui.source.journal_argv import COREDUMP_STORED, JOURNAL_STARTED, JOURNAL_STOPPED, SUPPRESSED
from dflashtui.text import decoded

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping

    from dflashtui.source.journal_argv import ManagerKind

    Fields = Mapping[str, Any]

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
PRIORITIES = {str(int(level)): level for level in Priority}
CURSOR_LIMIT = 1024
COUNT = re.compile(r"[0-9]{1,18}\Z")
UNREADABLE = (KeyError, TypeError, ValueError, OverflowError, ValidationError)
WITHHELD = "[4 KiB or more of text, withheld by journalctl for want of --all]"
STARTED = "journald was started: lines of the moment before it may be missing"
STOPPED = "journald was stopped"


def decode(line: bytes, units: Collection[str] = (), manager: ManagerKind = "system") -> JournalItem:
    """The entry, or the gap that journald tells of.

    `units`: which ones are watched, for an entry that speaks about two. Raises `DecodeError`.
    """
    fields = _fields(line)
    try:
        return _gap(fields) or _entry(fields, units, manager)
    except UNREADABLE:
        raise DecodeError("journalctl", line) from None


def decode_entry(line: bytes) -> JournalEntry:
    """The entry, whatever it speaks of. Raises `DecodeError`."""
    fields = _fields(line)
    try:
        return _entry(fields, (), "system")
    except UNREADABLE:
        raise DecodeError("journalctl", line) from None


def _fields(line: bytes) -> dict[str, Any]:
    """Bounded in depth by the parser (nesting beyond 200 is refused)."""
    try:
        fields = from_json(line)
    except ValueError:
        raise DecodeError("journalctl", line) from None
    if not isinstance(fields, dict) or not _is_cursor(fields.get("__CURSOR")):
        raise DecodeError("journalctl", line)
    return fields


def _is_cursor(value: object) -> bool:
    return isinstance(value, str) and 0 < len(value) <= CURSOR_LIMIT


def _at(fields: Fields) -> datetime:
    return EPOCH + timedelta(microseconds=int(fields["__REALTIME_TIMESTAMP"]))


def _entry(fields: Fields, units: Collection[str], manager: ManagerKind) -> JournalEntry:
    message = fields.get("MESSAGE", "")
    from_manager = _from_manager(fields, manager)
    return JournalEntry(
        cursor=fields["__CURSOR"],
        at=_at(fields),
        monotonic_usec=_count(fields, "__MONOTONIC_TIMESTAMP"),
        boot_id=_word(fields, "_BOOT_ID"),
        priority=PRIORITIES.get(_word(fields, "PRIORITY") or "", Priority.INFO),
        message=masked(message if type(message) is str else text_of(message)),
        unit=_unit(fields, units, manager, from_manager=from_manager),
        from_manager=from_manager,
        invocation_id=_invocation_id(fields, from_manager=from_manager),
        pid=_count(fields, "_PID"),
        syslog_identifier=_word(fields, "SYSLOG_IDENTIFIER") or _word(fields, "_COMM"),
        transport=_word(fields, "_TRANSPORT"),
        stream_id=_word(fields, "_STREAM_ID"),
        line_break=_word(fields, "_LINE_BREAK"),
        message_id=_word(fields, "MESSAGE_ID"),
    )


def all_fields(printed: bytes, cursor: str) -> dict[str, str]:
    """Every field of the entry with this cursor, by name, secrets masked; nothing if another one was printed.

    Raises `DecodeError`.
    """
    line = next((line for line in printed.split(b"\n") if line.startswith(b"{")), None)
    fields = _fields(line) if line else {}
    if fields.get("__CURSOR") != cursor:
        return {}
    return {name: masked(text_of(value)) for name, value in sorted(fields.items())}


def text_of(value: object) -> str:
    """A field's text: a string, bytes as numbers, null (withheld), or several of these, one under the other.

    Raises `ValueError` or `TypeError` for anything else.
    """
    match value:
        case str():
            return value
        case None:
            return WITHHELD
        case list():
            return _text_of_several(value)
        case _:
            raise TypeError(value)


def _text_of_several(values: list[Any]) -> str:
    if values and type(values[0]) is int:
        return decoded(bytes(values))
    return "\n".join(map(text_of, values))


def _word(fields: Fields, name: str) -> str | None:
    """A field that holds one short text; the first, if there are several."""
    value = fields.get(name)
    if value is None or type(value) is str:
        return value or None
    if isinstance(value, list) and value and isinstance(value[0], str):
        return value[0]
    return text_of(value) if isinstance(value, list) else None


def _count(fields: Fields, name: str) -> int | None:
    value = fields.get(name)
    return int(value) if type(value) is str and COUNT.match(value) else None


def _from_manager(fields: Fields, manager: ManagerKind) -> bool:
    """Only fields with a leading underscore are journald's own; anybody may write the others."""
    if manager == "system":
        return fields.get("_PID") == "1"
    of_user = str(fields.get("_SYSTEMD_UNIT", "")).startswith("user@")
    return of_user and fields.get("_SYSTEMD_USER_UNIT") == "init.scope"


def _unit(fields: Fields, units: Collection[str], manager: ManagerKind, *, from_manager: bool) -> str | None:
    claims = _system_claims if manager == "system" else _user_claims
    return _first_watched(fields, claims, units, from_manager=from_manager)


def _first_watched(
    fields: Fields, claims: Callable[[Fields, bool], Iterator[str]], units: Collection[str], *, from_manager: bool
) -> str | None:
    first = None
    for name in claims(fields, from_manager):
        value = _word(fields, name)
        if value is None:
            continue
        if value in units:
            return value
        first = first or value
    return first


def _system_claims(fields: Fields, from_manager: bool) -> Iterator[str]:  # noqa: FBT001 - a fact about the entry
    """Fields that name the unit an entry belongs to, the most telling first, as far as their writer is believed."""
    if from_manager:
        yield "UNIT"
    if fields.get("_UID") == "0":
        if fields.get("MESSAGE_ID") == COREDUMP_STORED:
            yield "COREDUMP_UNIT"
        yield "OBJECT_SYSTEMD_UNIT"
    yield "_SYSTEMD_UNIT"


def _user_claims(fields: Fields, from_manager: bool) -> Iterator[str]:  # noqa: FBT001 - a fact about the entry
    if from_manager:
        yield "USER_UNIT"
    if fields.get("MESSAGE_ID") == COREDUMP_STORED:
        yield "COREDUMP_USER_UNIT"
    if fields.get("_UID") == "0":
        yield "OBJECT_SYSTEMD_USER_UNIT"
    yield "_SYSTEMD_USER_UNIT"


def _invocation_id(fields: Fields, *, from_manager: bool) -> str | None:
    about = (_word(fields, "INVOCATION_ID") or _word(fields, "USER_INVOCATION_ID")) if from_manager else None
    return about or _word(fields, "_SYSTEMD_INVOCATION_ID")


def _gap(fields: Fields) -> JournalGap | None:
    """What journald itself (`_TRANSPORT=driver` cannot be forged) says about missing entries."""
    if fields.get("_TRANSPORT") != "driver":
        return None
    cursor, at = fields["__CURSOR"], _at(fields)
    match fields.get("MESSAGE_ID"):
        case str(mark) if mark == SUPPRESSED:
            return _suppressed(fields, at, cursor)
        case str(mark) if mark == JOURNAL_STARTED:
            return JournalGap(at=at, reason=STARTED, cursor=cursor)
        case str(mark) if mark == JOURNAL_STOPPED:
            return JournalGap(at=at, reason=STOPPED, cursor=cursor)
        case _:
            return None


def _suppressed(fields: Fields, at: datetime, cursor: str) -> JournalGap:
    lost = _count(fields, "N_DROPPED")
    unit = _word(fields, "OBJECT_SYSTEMD_USER_UNIT") or _word(fields, "OBJECT_SYSTEMD_UNIT")
    reason = f"journald suppressed {'some' if lost is None else lost} messages (its rate limit)"
    return JournalGap(at=at, reason=reason, unit=unit, entries_lost=lost, cursor=cursor)
