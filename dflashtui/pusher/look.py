"""How a unit's file stands: on disk, loaded by the manager, running. Changes nothing, makes no file."""

from __future__ import annotations

import base64
import os
import time
from typing import TYPE_CHECKING, Any

from dflashtui.pusher import files
from dflashtui.pusher.lock import Lock, described
from dflashtui.pusher.manager import Manager, wall_clock
from dflashtui.pusher.records import PENDING, Store
from dflashtui.pusher.trouble import Refusal

if TYPE_CHECKING:
    from dflashtui.pusher.places import Places

LARGEST_DROP_INS = 64


class Look:
    """Asks about one unit after the other."""

    def __init__(self, places: Places, manager: Manager, lock: Lock) -> None:
        self._places = places
        self._manager = manager
        self._lock = lock

    def unit(self, name: str) -> dict[str, Any]:
        """Everything that is known of a unit's file."""
        path = self._places.unit(name)
        here = files.found(path)
        said, trouble = self._said(name)
        store = Store(self._places.state, "units", name)
        records, unread = _records(store)
        return {
            "unit": name,
            "at": time.time(),
            "target": file_facts(path, here),
            "folder": self._folder(),
            "elsewhere": self._elsewhere(name),
            "drop_ins": self._drop_ins(name, said),
            "manager": said,
            "manager_trouble": trouble,
            "can_verify": self._places.program("systemd-analyze") is not None,
            "records": records,
            "records_trouble": unread,
            "holder": None if self._lock.is_held else _held(self._lock),
            **(_times(self._manager, said, records, store, here) if said else {}),
        }

    def _said(self, name: str) -> tuple[dict[str, str] | None, str | None]:
        try:
            return self._manager.unit(name), None
        except Refusal as refused:
            return None, refused.words

    def _folder(self) -> dict[str, Any]:
        folder = self._places.units
        there = os.path.isdir(folder)
        nearest = folder
        while not os.path.isdir(nearest):
            nearest = os.path.dirname(nearest)
        return {
            "path": folder,
            "exists": there,
            "writable": os.access(nearest, os.W_OK),
            "read_only": _is_read_only(nearest),
        }

    def _elsewhere(self, name: str) -> list[dict[str, Any]]:
        """The same name in other folders: `wins` over ours, or is covered by it. Link to /dev/null: masked."""
        kept: list[dict[str, Any]] = []
        seen = {os.path.realpath(self._places.units)}
        wins = True
        for folder in self._places.unit_folders:
            real = os.path.realpath(folder)
            wins = wins and folder != self._places.units
            path = os.path.join(folder, name)
            if real not in seen and os.path.lexists(path):
                masked = os.path.islink(path) and os.path.realpath(path) == "/dev/null"
                kept.append({"path": path, "wins": wins, "masked": masked})
            seen.add(real)
        return kept

    def _drop_ins(self, name: str, said: dict[str, str] | None) -> list[dict[str, Any]]:
        """On disk and loaded; `own`: for this unit, not for all of its kind."""
        loaded = (said or {}).get("DropInPaths", "").split()
        folders = [os.path.join(folder, one) for folder in self._places.unit_folders for one in drop_in_folders(name)]
        on_disk = [os.path.join(folder, one) for folder in folders for one in _conf_names(folder)]
        paths = {os.path.realpath(path): path for path in [*on_disk, *loaded]}
        kind = name.rpartition(".")[2] + ".d"
        return [
            {
                **file_facts(path, _found(path)),
                "is_loaded": path in loaded,
                "own": os.path.basename(os.path.dirname(path)) != kind,
            }
            for path in sorted(paths.values())[:LARGEST_DROP_INS]
        ]


def drop_in_folders(name: str) -> list[str]:
    """`a-b.service.d`, `a-.service.d`, `service.d` of `a-b.service`; an instance has its template's, too."""
    stem, _, kind = name.rpartition(".")
    stems = [stem]
    if "@" in stem:
        stem = stem.partition("@")[0] + "@"
        stems.append(stem)
    stem = stem.rstrip("@")
    while "-" in stem.rstrip("-"):
        stem = stem.rstrip("-").rpartition("-")[0] + "-"
        stems.append(stem)
    return ["%s.%s.d" % (one, kind) for one in dict.fromkeys(stems)] + [kind + ".d"]


def _conf_names(folder: str) -> list[str]:
    try:
        return sorted(name for name in os.listdir(folder) if name.endswith(".conf"))
    except OSError:
        return []


def file_facts(path: str, here: dict[str, Any]) -> dict[str, Any]:
    """A file as the console is told of it."""
    facts: dict[str, Any] = {
        "path": path,
        "kind": here["kind"],
        "link": here.get("link"),
        "trouble": here.get("trouble"),
    }
    if "status" in here:
        status = here["status"]
        changed = max(status.st_mtime, status.st_ctime)
        facts.update(mode=status.st_mode & 0o7777, owner=files.owner(status), changed_at=changed)
        facts.update(names=status.st_nlink, has_acl=files.ACL in files.access(path, 0))
    if "data" in here:
        facts.update(sha256=files.sha256(here["data"]), text=base64.b64encode(here["data"]).decode())
    return facts


def _found(path: str) -> dict[str, Any]:
    """Of a file that only explains: links are followed, trouble is told."""
    try:
        return files.found(os.path.realpath(path))
    except OSError as problem:
        return {"kind": "other", "trouble": problem.strerror}


def _is_read_only(folder: str) -> bool:
    try:
        return bool(os.statvfs(folder).f_flag & os.ST_RDONLY)
    except OSError:
        return False


def _records(store: Store) -> tuple[list[dict[str, Any]] | None, str | None]:
    try:
        return store.records(), None
    except Refusal as refused:
        return None, refused.words


def _held(lock: Lock) -> str | None:
    holder = lock.holder()
    return None if holder is None else described(holder)


def _times(
    manager: Manager, said: dict[str, str], records: list[dict[str, Any]] | None, store: Store, here: dict[str, Any]
) -> dict[str, Any]:
    """When it was loaded and started, and the texts of then, as far as our own records know them."""
    started = _started_at(said)
    matters = started is not None or said.get("NeedDaemonReload") == "yes"
    reloaded = manager.reloaded_at() if matters else None
    now = files.sha256(here["data"]) if "data" in here else None
    then = {"loaded_sha256": _text_at(records or [], reloaded), "running_sha256": _text_at(records or [], started)}
    wanted = {name for name in then.values() if name and name != now and store.has(name)}
    texts = {name: base64.b64encode(store.text(name)).decode() for name in sorted(wanted)}
    return {"started_at": started, "reloaded_at": reloaded, **then, "texts": texts}


def _started_at(said: dict[str, str]) -> float | None:
    """Of the run that goes on; `None`: none does."""
    if said.get("ActiveState") not in {"active", "reloading", "refreshing", "activating", "deactivating"}:
        return None
    usec = said.get("ExecMainStartTimestampMonotonic") or said.get("ActiveEnterTimestampMonotonic") or "0"
    return wall_clock(int(usec)) if usec.isdigit() else None


def _text_at(records: list[dict[str, Any]], moment: float | None) -> str | None:
    """The sha256 of the text that stood at a moment, by our own changes alone; `None` where others changed it, too."""
    states = {PENDING, "not-done", "taken-back"}
    done = [record["files"][0] for record in records if record["files"] and record["state"] not in states]
    times = [record["at"] for record in records if record["files"] and record["state"] not in states]
    if moment is None or not done:
        return None
    count = sum(1 for at in times if at <= moment)
    before = done[count]["before"] if count < len(done) else None
    after = done[count - 1]["after"] if count else before
    is_known = count == len(done) or before == after
    return after if is_known and isinstance(after, str) else None
