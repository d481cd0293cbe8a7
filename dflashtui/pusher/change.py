"""Files that are replaced together: kept first, put one by one, recorded before and after, taken back on trouble."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from typing import Any, Callable

from dflashtui.pusher import files
from dflashtui.pusher.records import PENDING, Store
from dflashtui.pusher.trouble import Refusal, refusal_of

UNIT_MODE = 0o644
DONE, NOT_DONE, TAKEN_BACK = "done", "not-done", "taken-back"


class FileChange:
    """One file: the bytes that it shall have (`None`: it shall be gone), and what was there when we looked."""

    def __init__(self, name: str, path: str, data: bytes | None, before: str | None) -> None:
        """`name`: the unit, or the path within the package. `before`: sha256 of what is to be replaced."""
        self.name = name
        self.path = path
        self.data = data
        self.before = before
        self.after = None if data is None else files.sha256(data)
        self.mode = UNIT_MODE
        self.base: str | None = None
        """The folder by whose owner's rights it is written; `None`: the file's own."""
        self.ids: tuple[int, int] | None = (0, 0) if os.geteuid() == 0 else None
        self._old: dict[str, Any] = {}

    @property
    def is_needed(self) -> bool:
        """Whether the file is not already as it shall be."""
        return self.before != self.after

    def keep(self, store: Store) -> dict[str, Any]:
        """Keep both texts, if the file is still what it was. Gives the record's entry. Raises `Refusal`."""
        try:
            here = files.found(self.path)
        except OSError as problem:
            raise refusal_of(problem, self.path) from problem
        if here["kind"] not in {"absent", "file"}:
            raise Refusal("not-a-file", "%s: is a %s, not a file" % (self.path, here["kind"]))
        if (files.sha256(here["data"]) if "data" in here else None) != self.before:
            raise Refusal("changed", "%s: was changed by somebody since it was looked at" % self.path)
        if "data" in here:
            store.keep(here["data"])
            status = here["status"]
            self._old = {"mode": status.st_mode & 0o7777, "uid": status.st_uid, "gid": status.st_gid}
        if self.data is not None:
            store.keep(self.data)
        return {"name": self.name, "path": self.path, "before": self.before, "after": self.after, "old": self._old}

    def put(self) -> None:
        """Old or new, whole, at every moment. Raises `Refusal`."""
        with files.acting_as(self.base or os.path.dirname(self.path)):
            if self.data is None:
                files.remove(self.path)
                return
            files.make_folder(os.path.dirname(self.path), 0o755)
            files.replace(self.path, self.data, self.mode, self.ids)


class Change:
    """One record's worth of files."""

    def __init__(self, store: Store, changes: list[FileChange], facts: dict[str, Any]) -> None:
        """`facts`: what the record says beside its files: `unit`, `action`, `version`, `originals`, …"""
        self.store = store
        self.changes = [one for one in changes if one.is_needed]
        self.facts = facts
        self.record: dict[str, Any] = {}

    def begin(self, facts: dict[str, Any]) -> None:
        """Keep what will be replaced, and say what is about to happen. Raises `Refusal`: nothing was replaced."""
        entries = [one.keep(self.store) for one in self.changes]
        number = self.store.next_number()
        common = {"number": number, "state": PENDING, "at": time.time(), "files": entries}
        self.record = {**self.facts, **facts, **common}
        self.store.write(self.record)

    def put(self) -> None:
        """Replace the files. Raises `Refusal`; those that are replaced by then are for `take_back`."""
        for one in self.changes:
            one.put()

    def finish(self) -> None:
        """It is done."""
        self._close(DONE, None)
        self.store.tidy()

    def take_back(self, why: str) -> None:
        """The old files again. Raises `Refusal` if not even that can be done.

        A record that cannot be written any more stays pending, and is settled by the next push.
        """
        put_back(self.store, self.record)
        with suppress(Refusal):
            self._close(TAKEN_BACK, why)

    def _close(self, state: str, note: str | None) -> None:
        self.record.update(state=state, note=note, finished_at=time.time())
        self.store.write(self.record)


def put_back(store: Store, record: dict[str, Any]) -> list[str]:
    """Put the `before` of a record in place of its `after`; gives the names of files that are neither by now."""
    foreign = []
    for entry in reversed(record["files"]):
        here = files.hash_at(entry["path"])
        if here == entry["before"]:
            continue
        if here != entry["after"]:
            foreign.append(entry["name"])
            continue
        data = None if entry["before"] is None else store.text(entry["before"])
        with files.acting_as(os.path.dirname(entry["path"])):
            _put_back(entry, data)
    return foreign


def _put_back(entry: dict[str, Any], data: bytes | None) -> None:
    if data is None:
        files.remove(entry["path"])
        return
    old = entry.get("old") or {}
    ids = (old["uid"], old["gid"]) if os.geteuid() == 0 and "uid" in old else None
    files.replace(entry["path"], data, old.get("mode", UNIT_MODE), ids)


def settle(store: Store, tell: Callable[[str], None]) -> None:
    """End what an earlier push left unfinished: by then the files themselves say how far it came."""
    store.sweep()
    records = store.records()
    record = records[-1] if records else None
    if record is None or record["state"] != PENDING:
        return
    state = _state_on_disk(record)
    if state == "mixed":
        put_back(store, record)
        state = TAKEN_BACK
    for entry in record["files"]:
        for part in files.parts(os.path.dirname(entry["path"])):
            files.drop(part)
    note = "it was cut off; found to be %s later" % state
    store.write({**record, "state": state, "note": note, "finished_at": time.time()})
    tell("push %d of %s by %s was cut off: %s" % (record["number"], store.name, record.get("who", "?"), WORDS[state]))


WORDS = {
    DONE: "its file is in place",
    NOT_DONE: "it had replaced nothing",
    TAKEN_BACK: "its first files were taken back",
}


def _state_on_disk(record: dict[str, Any]) -> str:
    hashes = [_hash_or_none(entry["path"]) for entry in record["files"]]
    if hashes == [entry["after"] for entry in record["files"]]:
        return DONE
    replaced = [here == entry["after"] for here, entry in zip(hashes, record["files"])]  # noqa: B905 - Python 3.8 has no strict=
    return "mixed" if any(replaced) else NOT_DONE


def _hash_or_none(path: str) -> str | None:
    try:
        return files.hash_at(path)
    except (OSError, Refusal):
        return "unreadable"
