"""Taking back the newest change of a unit or an overlay, whoever asks for it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from dflashtui.pusher import overlays
from dflashtui.pusher.change import DONE, NOT_DONE, Change, FileChange, put_back
from dflashtui.pusher.undo import UNDO

if TYPE_CHECKING:
    from dflashtui.pusher.records import Store


def is_newest(records: list[dict[str, Any]], change: str) -> bool:
    """Whether a change is the last that was made, and is not undone."""
    last = records[-1] if records else {}
    return last.get("change") == change and last.get("state") == DONE and last.get("action") != UNDO


def undone_by(who: str, store: Store) -> str:
    """Put back what the newest change replaced, if it is still in place, and record it. Gives the store's name."""
    records = store.records()
    old = records[-1]
    foreign = put_back(store, old)
    state = NOT_DONE if old["files"] and len(foreign) == len(old["files"]) else DONE
    note = "changed by somebody since, left alone: %s" % ", ".join(foreign) if foreign else None
    entries = [{**one, "before": one["after"], "after": one["before"]} for one in old["files"]]
    common = {"number": store.next_number(), "at": time.time(), "finished_at": time.time(), "state": state}
    facts = {"action": UNDO, "undoes": old["number"], "who": who, "files": entries, "note": note}
    store.write({**old, **_before(store, records), **common, **facts})
    return store.name


def undoing(store: Store, records: list[dict[str, Any]]) -> Change:
    """The change that undoes the newest record."""
    last = records[-1]
    changes = [_going_back(store, entry) for entry in last["files"]]
    return Change(store, changes, {**_about(last), **_before(store, records)})


def _going_back(store: Store, entry: dict[str, Any]) -> FileChange:
    data = None if entry["before"] is None else store.text(entry["before"])
    change = FileChange(entry["name"], entry["path"], data, entry["after"])
    old = entry.get("old") or {}
    change.mode = old.get("mode", change.mode)
    if change.ids is not None and "uid" in old:
        change.ids = (old["uid"], old["gid"])
    return change


def _about(record: dict[str, Any]) -> dict[str, Any]:
    return {key: record.get(key) for key in ("unit", "python", "package", "version", "folder") if key in record}


def _before(store: Store, records: list[dict[str, Any]]) -> dict[str, Any]:
    """What was laid before the newest record."""
    if store.kind != "overlays":
        return {}
    last = overlays.effective(records[:-1])
    return {"laid": last["laid"], "originals": last["originals"]}
