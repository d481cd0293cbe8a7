"""The one reader of a unit's properties, whichever way they came. Pure.

Values are typed as on the bus (org.freedesktop.systemd1(5)); `systemd_show` brings text into the same types.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from enum import Enum
from typing import TYPE_CHECKING

from dflashtui.mask import masked
from dflashtui.model.unit import ActiveState, LoadState, UnitStatus

if TYPE_CHECKING:
    from collections.abc import Mapping

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
UNSET = 2**64 - 1
"""What the bus says for `[not set]` and `infinity`."""
WAITING_FOR_RESTART = frozenset({"auto-restart", "auto-restart-queued"})


class Kind(Enum):
    """How a property is typed on the bus."""

    TEXT = "s"
    NUMBER = "t"
    FLAG = "b"
    TIME = "t, microseconds since the epoch"
    SPAN = "t, microseconds"
    LIST = "as"
    ID = "ay"
    ERROR = "(ss)"


PROPERTIES: dict[str, Kind] = {
    "Id": Kind.TEXT,
    "Names": Kind.LIST,
    "Description": Kind.TEXT,
    "LoadState": Kind.TEXT,
    "LoadError": Kind.ERROR,
    "ActiveState": Kind.TEXT,
    "SubState": Kind.TEXT,
    "UnitFileState": Kind.TEXT,
    "FragmentPath": Kind.TEXT,
    "DropInPaths": Kind.LIST,
    "NeedDaemonReload": Kind.FLAG,
    "InvocationID": Kind.ID,
    "StateChangeTimestamp": Kind.TIME,
    "CanStart": Kind.FLAG,
    "CanStop": Kind.FLAG,
    "CanReload": Kind.FLAG,
    "Transient": Kind.FLAG,
    "Result": Kind.TEXT,
    "Type": Kind.TEXT,
    "Restart": Kind.TEXT,
    "MainPID": Kind.NUMBER,
    "NRestarts": Kind.NUMBER,
    "ExecMainCode": Kind.NUMBER,
    "ExecMainStatus": Kind.NUMBER,
    "ExecMainStartTimestamp": Kind.TIME,
    "ExecMainExitTimestamp": Kind.TIME,
    "RestartUSec": Kind.SPAN,
    "RestartUSecNext": Kind.SPAN,
    "StatusText": Kind.TEXT,
    "ControlGroup": Kind.TEXT,
    "MemoryCurrent": Kind.NUMBER,
    "MemoryMax": Kind.NUMBER,
    "CPUUsageNSec": Kind.NUMBER,
    "TasksCurrent": Kind.NUMBER,
}
"""What is read of each unit. `RestartUSecNext` exists since systemd 254."""

SILENT = frozenset({"MemoryCurrent", "CPUUsageNSec", "TasksCurrent", "NeedDaemonReload"})
"""Properties that change without a signal."""

Values = dict[str, object]
"""Properties by name, only those of `PROPERTIES`."""


def unit_status(values: Mapping[str, object]) -> UnitStatus:
    """One unit. Properties that are missing, or of a type that nobody expects, are unknown."""
    name, names = _text(values, "Id") or "", _list(values, "Names")
    code = _number(values, "ExecMainCode")
    return UnitStatus(
        name=name,
        aliases=tuple(sorted(alias for alias in names if alias != name)),
        description=_words(values, "Description") or "",
        load_state=LoadState(_text(values, "LoadState") or "unknown"),
        load_error=_load_error(values),
        active_state=ActiveState(_text(values, "ActiveState") or "unknown"),
        sub_state=_words(values, "SubState") or "unknown",
        unit_file_state=_text(values, "UnitFileState"),
        fragment_path=_text(values, "FragmentPath"),
        drop_in_paths=tuple(_list(values, "DropInPaths")),
        needs_reload=_flag(values, "NeedDaemonReload"),
        invocation_id=_id(values, "InvocationID"),
        since=_time(values, "StateChangeTimestamp"),
        can_start=_flag(values, "CanStart"),
        can_stop=_flag(values, "CanStop"),
        can_reload=_flag(values, "CanReload"),
        transient=_flag(values, "Transient"),
        result=_words(values, "Result"),
        type=_text(values, "Type"),
        restart=_text(values, "Restart"),
        main_pid=_number(values, "MainPID") or None,
        n_restarts=_number(values, "NRestarts"),
        exec_main_code=code,
        exec_main_status=_number(values, "ExecMainStatus") if code else None,
        started_at=_time(values, "ExecMainStartTimestamp"),
        exited_at=_time(values, "ExecMainExitTimestamp"),
        next_restart_at=_next_restart(values),
        status_text=_words(values, "StatusText"),
        control_group=_text(values, "ControlGroup"),
        memory_current_bytes=_number(values, "MemoryCurrent"),
        memory_max_bytes=_number(values, "MemoryMax"),
        cpu_usage_nsec=_number(values, "CPUUsageNSec"),
        tasks_current=_number(values, "TasksCurrent"),
    )


def major_version(text: str) -> int | None:
    """`252` of `252.39-1~deb12u2` or of `systemd 252 (252.39-1~deb12u2)`."""
    found = re.match(r"(?:systemd )?v?(\d{1,5})\b", text)
    return int(found[1]) if found else None


def _text(values: Mapping[str, object], name: str) -> str | None:
    value = values.get(name)
    return value if isinstance(value, str) and value else None


def _words(values: Mapping[str, object], name: str) -> str | None:
    """What people wrote, or a program: it may hold a secret."""
    text = _text(values, name)
    return masked(text) if text else None


def _number(values: Mapping[str, object], name: str) -> int | None:
    value = values.get(name)
    return None if isinstance(value, bool) or not isinstance(value, int) or value >= UNSET else value


def _flag(values: Mapping[str, object], name: str) -> bool | None:
    value = values.get(name)
    return value if isinstance(value, bool) else None


def _list(values: Mapping[str, object], name: str) -> list[str]:
    value = values.get(name)
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _id(values: Mapping[str, object], name: str) -> str | None:
    value = values.get(name)
    return value.hex() if isinstance(value, bytes) and any(value) else None


def _time(values: Mapping[str, object], name: str) -> datetime | None:
    usec = _number(values, name)
    if not usec:
        return None
    try:
        return EPOCH + timedelta(microseconds=usec)
    except OverflowError:
        return None


def _load_error(values: Mapping[str, object]) -> str | None:
    match values.get("LoadError"):
        case [str(), str(words)] if words:
            return masked(words)
        case _:
            return None


def _next_restart(values: Mapping[str, object]) -> datetime | None:
    """The timer is armed when the state is entered (service_enter_dead in systemd's service.c; seen on 252)."""
    since = _time(values, "StateChangeTimestamp")
    usec = _number(values, "RestartUSecNext") or _number(values, "RestartUSec")
    if _words(values, "SubState") not in WAITING_FOR_RESTART or since is None or usec is None:
        return None
    try:
        return since + timedelta(microseconds=usec)
    except OverflowError:
        return None
