"""journalctl's machine-readable forms as lines: `-o json`, `-o json-seq`, `-o export`."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from pydantic_core import from_json

from dflashtui.diagnosis.line import Line
from dflashtui.text import decoded

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dflashtui.diagnosis.line import Origin

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
JSON_MARKS = (b'"__REALTIME_TIMESTAMP"', b'"MESSAGE"', b'"_PID"', b'"__CURSOR"')
MESSAGE_KEY = b'"MESSAGE":"'
MANAGER_KEYS = (b'"_PID":"1"', b'"_TRANSPORT":"kernel"', b'"_PID" : "1"', b'"_COMM":"systemd"')
LIST_LIMIT = 400_000


def is_entry(raw: bytes) -> bool:
    """A line of `-o json`, not of a service that logs JSON itself."""
    return raw.lstrip(b"\x1e").startswith(b"{") and sum(mark in raw for mark in JSON_MARKS) >= 2  # noqa: PLR2004 - one may be the service's own


def told_message(raw: bytes) -> bytes | None:
    """The message's bytes as JSON has them, without reading the entry; `None`: it has to be read."""
    at = raw.find(MESSAGE_KEY)
    if at < 0 or any(key in raw for key in MANAGER_KEYS):
        return None
    end = raw.find(b'"', at + len(MESSAGE_KEY))
    while end > 0 and raw[end - 1 : end] == b"\\":
        end = raw.find(b'"', end + 1)
    return raw[at + len(MESSAGE_KEY) : end] if end > 0 else None


def line_of_json(raw: bytes, number: int) -> Line | None:
    """The line of an entry; `None` if it is not readable (cut off at the end of a file)."""
    try:
        fields = from_json(raw.lstrip(b"\x1e"))
    except ValueError:
        return None
    return line_of(fields, number) if isinstance(fields, dict) else None


def line_of(fields: Mapping[str, Any], number: int) -> Line:
    """The line of an entry's fields."""
    manager = _is_manager(fields)
    origin: Origin = "manager" if manager else "kernel" if fields.get("_TRANSPORT") == "kernel" else "service"
    invocation = _word(fields, "INVOCATION_ID") or _word(fields, "USER_INVOCATION_ID") if manager else None
    unit = _word(fields, "UNIT") or _word(fields, "USER_UNIT") if manager else None
    return Line(
        text=_text(fields.get("MESSAGE", "")),
        number=number,
        pid=_number(fields, "_PID") or _number(fields, "SYSLOG_PID"),
        identifier=_word(fields, "SYSLOG_IDENTIFIER") or _word(fields, "_COMM"),
        origin=origin,
        stream_id=_word(fields, "_STREAM_ID"),
        is_cut=fields.get("_LINE_BREAK") == "line-max",
        at=_at(fields),
        unit=unit or _word(fields, "_SYSTEMD_USER_UNIT") or _word(fields, "_SYSTEMD_UNIT"),
        invocation_id=invocation or _word(fields, "_SYSTEMD_INVOCATION_ID"),
        host=_word(fields, "_HOSTNAME"),
    )


def _is_manager(fields: Mapping[str, Any]) -> bool:
    """Only fields that begin with `_` are journald's own; any process may write `UNIT`."""
    if fields.get("_PID") == "1":
        return True
    return fields.get("_COMM") == "systemd" and str(fields.get("_SYSTEMD_USER_UNIT", "init.scope")) == "init.scope"


def _text(value: object) -> str:
    match value:
        case str():
            return value
        case list() if value and all(isinstance(part, int) for part in value[:8]):
            return decoded(bytes(part for part in value[:LIST_LIMIT] if isinstance(part, int) and 0 <= part < 256))  # noqa: PLR2004 - a byte
        case list():
            return "\n".join(_text(part) for part in value)
        case _:
            return ""


def _word(fields: Mapping[str, Any], name: str) -> str | None:
    value = fields.get(name)
    return value if isinstance(value, str) and value else None


def _number(fields: Mapping[str, Any], name: str) -> int | None:
    value = fields.get(name)
    return int(value) if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 12 else None  # noqa: PLR2004 - a pid


def _at(fields: Mapping[str, Any]) -> datetime | None:
    usec = fields.get("__REALTIME_TIMESTAMP")
    try:
        return EPOCH + timedelta(microseconds=int(usec)) if isinstance(usec, str) else None
    except (ValueError, OverflowError):
        return None
