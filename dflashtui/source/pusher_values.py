"""What the shipped pusher says, as values."""

from __future__ import annotations

import base64
import binascii
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import ValidationError

from dflashtui.errors import DecodeError
from dflashtui.model.push import DropIn, Elsewhere, HostFile, PushRecord, RecordFile, UnitLook, Verification
from dflashtui.text import decoded

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

SOURCE = "pusher"
F = TypeVar("F")
T = TypeVar("T")
WRONG = (KeyError, TypeError, ValueError, AttributeError, OverflowError, OSError, binascii.Error, ValidationError)


def unit_look(answer: Mapping[str, Any], *, host: str, is_root: bool, manager: str) -> UnitLook:
    """Raises `DecodeError`."""
    try:
        return _unit_look(answer, host, is_root=is_root, manager=manager)
    except WRONG as wrong:
        raise DecodeError(SOURCE, str(answer)[:200].encode()) from wrong


def _unit_look(answer: Mapping[str, Any], host: str, *, is_root: bool, manager: str) -> UnitLook:
    said = answer["manager"] or {}
    return UnitLook(
        host=host,
        unit=answer["unit"],
        at=moment(answer["at"]),
        is_root=is_root,
        manager=manager,
        target=host_file(answer["target"]),
        folder=answer["folder"]["path"],
        is_folder_writable=answer["folder"]["writable"],
        is_folder_read_only=answer["folder"]["read_only"],
        elsewhere=tuple(
            Elsewhere(path=one["path"], wins=one["wins"], is_masked=one["masked"]) for one in answer["elsewhere"]
        ),
        drop_ins=tuple(
            DropIn(file=host_file(one), is_loaded=one["is_loaded"], is_own=one["own"]) for one in answer["drop_ins"]
        ),
        load_state=said.get("LoadState"),
        load_error=said.get("LoadError") or None,
        fragment_path=said.get("FragmentPath") or None,
        needs_reload={"yes": True, "no": False}.get(said.get("NeedDaemonReload", "")),
        active_state=said.get("ActiveState"),
        unit_file_state=said.get("UnitFileState") or None,
        manager_trouble=answer["manager_trouble"],
        can_verify=answer["can_verify"],
        records=None if answer["records"] is None else tuple(map(record, answer["records"])),
        records_trouble=answer["records_trouble"],
        holder=answer["holder"],
        started_at=_maybe(answer.get("started_at"), moment),
        reloaded_at=_maybe(answer.get("reloaded_at"), moment),
        loaded_sha256=answer.get("loaded_sha256"),
        running_sha256=answer.get("running_sha256"),
        texts={name: text(data) for name, data in answer.get("texts", {}).items()},
    )


def host_file(facts: Mapping[str, Any]) -> HostFile:
    """A file as the pusher tells of it."""
    return HostFile(
        path=facts["path"],
        kind=facts["kind"],
        sha256=facts.get("sha256"),
        text=_maybe(facts.get("text"), text),
        mode=facts.get("mode"),
        owner=facts.get("owner"),
        has_acl=bool(facts.get("has_acl")),
        names=facts.get("names", 1),
        changed_at=_maybe(facts.get("changed_at"), moment),
        link=facts.get("link"),
        trouble=facts.get("trouble"),
    )


def record(facts: Mapping[str, Any]) -> PushRecord:
    """A record as it lies on the host."""
    return PushRecord(
        number=facts["number"],
        action=facts.get("action", "push"),
        state=facts["state"],
        at=moment(facts["at"]),
        finished_at=_maybe(facts.get("finished_at"), moment),
        who=facts.get("who", "?"),
        change=facts.get("change"),
        undoes=facts.get("undoes"),
        origin=facts.get("origin"),
        note=facts.get("note"),
        version=facts.get("version"),
        files=tuple(
            RecordFile(name=one["name"], path=one["path"], before=one["before"], after=one["after"])
            for one in facts["files"]
        ),
    )


def verification(answer: Mapping[str, Any] | None) -> Verification | None:
    """`None`: it was not verified."""
    return None if answer is None else Verification(exit_status=answer["status"], lines=tuple(answer["lines"]))


def text(data: str) -> str:
    """Of base64."""
    return decoded(base64.b64decode(data))


def moment(seconds: float) -> datetime:
    """Of seconds since the epoch."""
    return datetime.fromtimestamp(seconds, UTC)


def _maybe(value: F | None, convert: Callable[[F], T]) -> T | None:
    return None if value is None else convert(value)
