"""Which text a roll-back puts in place, and why there may be none. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflashtui.errors import ActionRefused
from dflashtui.ops.push import Wanted

if TYPE_CHECKING:
    from dflashtui.model.push import PushRecord, RecordFile, UnitLook


def wanted_before(look: UnitLook, number: int | None = None) -> Wanted:
    """What stood there before the last push; with `number`: what push `number` put there.

    Raises `ActionRefused` where there is nothing to undo, or no such number.
    """
    if look.records is None:
        raise ActionRefused(f"{look.host}: {look.unit}: what is kept cannot be read: {look.records_trouble}")
    return _last(look) if number is None else _numbered(look, number)


def _last(look: UnitLook) -> Wanted:
    last = look.unfinished or look.last
    if last is None:
        raise ActionRefused(f"{look.host}: {look.unit}: nothing to undo: dflashtui has pushed nothing there")
    if last.is_undo:
        words = f"{last.action} {last.number} by {last.who} has undone push {last.undoes or '?'} already"
        raise ActionRefused(f"{look.host}: {look.unit}: nothing to undo: {words}; another text: --to N")
    return Wanted(
        host=look.host,
        unit=look.unit,
        action="rollback",
        sha256=_entry(last, look).before if last.files else None,
        has_file=bool(last.files),
        origin=f"before push {last.number}",
        undoes=last.number,
        undo_change=last.change,
    )


def _numbered(look: UnitLook, number: int) -> Wanted:
    record = next((one for one in look.records or () if one.number == number), None)
    if record is None:
        kept = ", ".join(str(one.number) for one in look.records or ()) or "none"
        raise ActionRefused(f"{look.host}: {look.unit}: no push {number} is kept there (kept: {kept})")
    return Wanted(
        host=look.host,
        unit=look.unit,
        action="rollback",
        sha256=_entry(record, look).after,
        origin=f"push {record.number} of {record.at:%Y-%m-%d %H:%M} UTC by {record.who}",
        undoes=look.last.number if look.last else None,
    )


def _entry(record: PushRecord, look: UnitLook) -> RecordFile:
    entry = next((one for one in record.files if one.name == look.unit), None)
    if entry is None:
        raise ActionRefused(f"{look.host}: {look.unit}: push {record.number} replaced no unit file")
    return entry
