"""Records of one line that hold several: JSON lines, Go's `msg="…"` (crash-log forms, part 3)."""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

JSON_LIMIT = 1_000_000
TEXT_KEYS = ("message", "msg", "log", "event", "text", "MESSAGE", "body")
TRACE_KEYS = ("exc_info", "exception", "traceback", "stack", "stack_trace", "stacktrace", "error", "err", "exc_text")
LEVEL_KEYS = ("level", "severity", "levelname", "lvl", "log.level")
PROCESS_KEYS = ("process_name", "processName", "process", "rank", "worker")
LOGFMT = re.compile(r'(?P<key>[A-Za-z_][\w.]{0,40})=(?:"(?P<quoted>[^"\\]*(?:\\.[^"\\]*)*)"|(?P<bare>[^\s"]{0,2000}))')
MAX_LINES = 400
MAX_FIELDS = 40


class Record(NamedTuple):
    """The texts of one record, in order, and what it says of itself."""

    texts: list[str]
    level: str | None = None
    process: str | None = None
    is_stream: bool = False
    """A container's own log file: each record is one line of what the program wrote."""


def expanded(text: str) -> Record | None:
    """The record, if the text is one of these forms."""
    if text.startswith("{") and text.rstrip().endswith("}") and len(text) <= JSON_LIMIT:
        return _of_json(text)
    if "msg=" in text and ("level=" in text or "time=" in text):
        return _of_logfmt(text)
    return None


def _of_json(text: str) -> Record | None:
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(fields, dict):
        return None
    log = fields.get("log")
    if isinstance(log, str) and "stream" in fields:
        return Record([log.rstrip()], is_stream=True)
    texts = [line for key in (*TEXT_KEYS, *TRACE_KEYS) for line in _lines(fields.get(key))]
    return Record(texts[:MAX_LINES], _word(fields, LEVEL_KEYS), _process(fields)) if texts else None


def _lines(value: Any) -> list[str]:  # noqa: ANN401 - what a log writer put there
    match value:
        case str():
            return value.splitlines()
        case dict():
            return [
                line
                for key in (*TEXT_KEYS, *TRACE_KEYS)
                for line in _lines(value.get(key))
                if isinstance(value.get(key), str)
            ]
        case list():
            return [line for part in value[:MAX_LINES] if isinstance(part, str) for line in part.splitlines()]
        case _:
            return []


def _word(fields: dict[str, Any], keys: tuple[str, ...]) -> str | None:
    word = next((fields[key] for key in keys if isinstance(fields.get(key), str)), None)
    return word.upper() if word else None


def _process(fields: dict[str, Any]) -> str | None:
    for key in PROCESS_KEYS:
        value = fields.get(key)
        if key == "rank" and isinstance(value, int):
            return f"rank{value}"
        if isinstance(value, str) and value not in {"", "MainProcess"}:
            return value
    return None


def _of_logfmt(text: str) -> Record | None:
    fields: dict[str, str] = {}
    for match in LOGFMT.finditer(text[:60_000]):
        quoted = match["quoted"]
        fields.setdefault(match["key"], _unescaped(quoted) if quoted is not None else match["bare"])
        if len(fields) >= MAX_FIELDS:
            break
    if "msg" not in fields:
        return None
    error = fields.get("error") or fields.get("err")
    said = fields["msg"].splitlines() or [""]
    texts = [*said[:-1], f"{said[-1]}: {error}" if error else said[-1]]
    return Record(texts[:MAX_LINES], (fields.get("level") or "").upper() or None)


def _unescaped(quoted: str) -> str:
    if "\\" not in quoted:
        return quoted
    return quoted.replace("\\n", "\n").replace("\\t", "\t").replace('\\"', '"').replace("\\\\", "\\")
