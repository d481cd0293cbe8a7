"""What each order does. Looking changes nothing; everything else needs the lock, which is taken on the way."""

from __future__ import annotations

import base64
import os
import re
from typing import TYPE_CHECKING, Any, Callable

from dflashtui.pusher import files, overlays, stage
from dflashtui.pusher.change import Change, FileChange, settle
from dflashtui.pusher.records import Store
from dflashtui.pusher.trouble import Refusal
from dflashtui.pusher.undo import Undo, all_stores
from dflashtui.pusher.undoing import is_newest, undoing, undone_by

if TYPE_CHECKING:
    import subprocess

    from dflashtui.pusher.lock import Lock
    from dflashtui.pusher.manager import Manager
    from dflashtui.pusher.places import Places

CHANGE = re.compile(r"[0-9a-f]{8,32}\Z")
UNDO_WAITS_SECONDS = 300.0
"""For the lock of a push that goes on."""


class Program:
    """`tell(step)` is called as each step begins."""

    def __init__(self, places: Places, who: str, tell: Callable[[str], None], manager: Manager, lock: Lock) -> None:
        self._places = places
        self._who = who
        self._tell = tell
        self._lock = lock
        self._manager = manager
        self._stage = stage.Stage(places.state)
        self._undo = Undo(places, self._manager)
        self._changes: list[Change] = []
        self._unit: str | None = None
        self._left: list[str] = []
        self._is_reloading = False

    def answer(self, order: dict[str, Any]) -> dict[str, Any]:
        """Raises `Refusal`."""
        orders: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
            "look_overlay": lambda asked: overlays.look(self._places, asked),
            "text": self._text,
            "try": self._try,
            "prepare": self._prepare,
            "prepare_overlay": self._prepare_overlay,
            "apply": self._apply,
            "arm": self._arm,
            "disarm": self._disarm,
            "undo": self._undo_now,
        }
        do = orders.get(str(order.get("do")))
        if do is None:
            raise Refusal("bad-order", "this pusher knows no order %r" % order.get("do"))
        return do(order)

    def queue(self, change: Change) -> None:
        """Have it carried out by the next `apply`."""
        self._changes.append(change)

    def close(self) -> None:
        """In order: nothing staged is left, and nobody is told that we hold the lock."""
        self._stage.clear()
        self._lock.release()

    def _take_lock(self, wait_seconds: float = 0.0) -> None:
        """And end what was left by pushes that were cut off."""
        if self._lock.is_held:
            return
        self._tell("lock")
        self._lock.take(self._who, wait_seconds)
        if count := stage.clear_others(self._places.state):
            self._left.append("removed what %d earlier pushes had staged" % count)
        for part in files.parts(self._places.units):
            files.drop(part)
        for store in all_stores(self._places.state):
            settle(store, self._left.append)

    def _text(self, order: dict[str, Any]) -> dict[str, Any]:
        """A kept text of a unit."""
        store = Store(self._places.state, "units", order["unit"])
        return {"text": base64.b64encode(store.text(order["sha256"])).decode()}

    def _try(self, order: dict[str, Any]) -> dict[str, Any]:
        """Verify without leaving a trace; `verify` is `None` where that is not possible."""
        self._places.unit(order["unit"])
        data = base64.b64decode(order["text"])
        stage.require_text(data, order["sha256"])
        pending = self._manager.pending()
        verdict = stage.verified_unseen(self._manager, order["unit"], data)
        return {"verify": verdict, "reload_also": self._others(pending, order["unit"])}

    def _prepare(self, order: dict[str, Any]) -> dict[str, Any]:
        """Lock, stage, verify. `text` and `sha256`; or `kept`, a sha256; or `remove`. Replaces nothing."""
        unit = order["unit"]
        path = self._places.unit(unit)
        self._take_lock()
        store = Store(self._places.state, "units", unit)
        data = self._wanted(order, store)
        staged = None if data is None else self._staged(unit, data)
        pending = self._manager.pending()
        verdict = None if staged is None else self._verified(staged)
        also = self._others(pending, unit)
        change = FileChange(unit, path, data, order.get("before"))
        self._keep_private(change)
        self.queue(Change(store, [change], {"unit": unit}))
        self._unit = unit
        return {"verify": verdict, "reload_also": also, "sha256": change.after, "left": self._left}

    def _staged(self, unit: str, data: bytes) -> str:
        """The path of the text, whole."""
        self._tell("stage")
        staged = self._stage.take(unit, data)
        stage.require_text(files.content(staged), files.sha256(data))
        return staged

    def _verified(self, staged: str) -> dict[str, Any]:
        self._tell("verify")
        verdict = self._manager.verdict(self._manager.verification(staged), staged)
        self._stage.clear()
        return verdict

    def _wanted(self, order: dict[str, Any], store: Store) -> bytes | None:
        if order.get("remove"):
            return None
        if "kept" in order:
            return store.text(order["kept"])
        data = base64.b64decode(order["text"])
        stage.require_text(data, order["sha256"])
        return data

    def _keep_private(self, change: FileChange) -> None:
        """A file that others may not read, or a group may, stays so; nobody but its owner may write it."""
        here = files.found(change.path)
        if here["kind"] == "file":
            change.mode = (here["status"].st_mode & 0o644) | 0o600
            if change.ids is not None:
                change.ids = (0, here["status"].st_gid)

    def _others(self, pending: subprocess.Popen[bytes], unit: str) -> list[str]:
        return [name for name in self._manager.pending_names(pending) if name != unit]

    def _prepare_overlay(self, order: dict[str, Any]) -> dict[str, Any]:
        """`files`: texts by path within the package; or `restore`; or `undo`, the change that is to be undone."""
        self._take_lock()
        if order.get("undo"):
            changes = self._overlay_undo(order["undo"])
        elif order.get("restore"):
            changes = [overlays.restoring(self._places, order)]
        else:
            texts = {name: base64.b64decode(text) for name, text in order["files"].items()}
            changes = [overlays.laying(self._places, order, texts)]
        self._changes += changes
        names = [one.name for change in changes for one in change.changes]
        return {"files": names, "left": self._left}

    def _overlay_undo(self, change: str) -> list[Change]:
        """Of every overlay whose newest change is that one."""
        return [
            undoing(store, store.records())
            for store in all_stores(self._places.state)
            if store.kind == "overlays" and is_newest(store.records(), change)
        ]

    def _apply(self, order: dict[str, Any]) -> dict[str, Any]:
        """Carry out what was prepared, to its end even if nobody listens any more; on trouble, take it all back."""
        facts = {"who": self._who, "change": order["change"], "action": order.get("action", "push")}
        facts.update(undoes=order.get("undoes"), origin=order.get("origin"))
        needed = self._needed(str(order["unit"]))
        begun: list[Change] = []
        try:
            self._put(needed, begun, facts)
            reloaded = self._reloaded(order)
        except Refusal as refused:
            self._take_back(begun, refused)
            raise
        for change in needed:
            change.finish()
        self._forget_laid()
        self._changes = []
        return {"records": [change.record for change in needed], "reloaded": reloaded}

    def _needed(self, unit: str) -> list[Change]:
        """Overlays first. What changes overlays alone has a record of the unit, too: it is the unit's last push."""
        needed = [change for change in self._changes if change.changes]
        needed.sort(key=lambda change: change.store.kind == "units")
        if needed and needed[-1].store.kind != "units":
            needed.append(Change(Store(self._places.state, "units", unit), [], {"unit": unit}))
        return needed

    def _put(self, needed: list[Change], begun: list[Change], facts: dict[str, Any]) -> None:
        """First everything is kept, then everything is replaced. `begun`: what has to be taken back on trouble."""
        self._tell("keep")
        for change in needed:
            change.begin(facts)
            begun.append(change)
        self._tell("put")
        for change in needed:
            change.put()

    def _forget_laid(self) -> None:
        """An overlay that a reinstall has wiped leaves a record without files, so that it counts as gone."""
        for change in self._changes:
            gone = change.store.kind == "overlays" and not change.changes and not change.facts["laid"]
            if gone and overlays.effective(change.store.records())["laid"]:
                change.begin({"who": self._who, "action": "forget", "change": None})
                change.finish()

    def _reloaded(self, order: dict[str, Any]) -> bool:
        if self._unit is None or not order.get("reload"):
            return False
        self._tell("reload")
        self._is_reloading = True
        self._manager.reload()
        self._tell("check")
        self._check_loaded(self._unit)
        return True

    def _check_loaded(self, unit: str) -> None:
        """That the manager has taken in the file. Raises `Refusal`."""
        path = self._places.unit(unit)
        said = self._manager.unit(unit)
        if said is None or not os.path.exists(path):
            return
        if said.get("LoadState") != "loaded":
            words = "the manager says %s %s" % (said.get("LoadState", "nothing"), said.get("LoadError", ""))
            raise Refusal("not-loaded", "%s: %s" % (unit, words.strip()))
        fragment = said.get("FragmentPath", "")
        if fragment and os.path.realpath(fragment) != os.path.realpath(path):
            raise Refusal("not-loaded", "%s: the manager has loaded %s, not %s" % (unit, fragment, path))

    def _take_back(self, begun: list[Change], refused: Refusal) -> None:
        """The old files, and the old text loaded where the new one was."""
        try:
            for change in reversed(begun):
                change.take_back(refused.words)
            if self._is_reloading:
                self._manager.reload()
        except Refusal as worse:
            refused.words += "; and the old file could not be put back: %s" % worse.words
        else:
            refused.words += "; the old file is back" if self._is_reloading else "; nothing is changed"

    def _arm(self, order: dict[str, Any]) -> dict[str, Any]:
        """`change`, `seconds`, `program` (this one's text), `lines` (what it shall read)."""
        self._take_lock()
        return {"timer": self._undo.arm(_checked(order["change"]), float(order["seconds"]), order["program"], order)}

    def _disarm(self, order: dict[str, Any]) -> dict[str, Any]:
        self._take_lock(float(order.get("wait_seconds", 0.0)))
        return {"state": self._undo.disarm(_checked(order["change"]))}

    def _undo_now(self, order: dict[str, Any]) -> dict[str, Any]:
        """By the timer: put back what the change replaced, if it is still in place; reload; restart the unit."""
        change = _checked(order["change"])
        self._take_lock(UNDO_WAITS_SECONDS)
        if self._undo.is_called_off(change):
            return {"undone": []}
        stores = [store for store in all_stores(self._places.state) if is_newest(store.records(), change)]
        undone = [undone_by(self._who, store) for store in stores]
        if undone:
            self._manager.reload()
            self._restart(order)
        self._undo.end(change)
        return {"undone": undone}

    def _restart(self, order: dict[str, Any]) -> None:
        unit = order.get("restart")
        if unit:
            there = os.path.exists(self._places.unit(unit))
            self._manager.systemctl("restart" if there else "stop", "--no-block", "--", unit)


def _checked(change: str) -> str:
    if not CHANGE.match(change):
        raise Refusal("bad-name", "%r names no change" % change)
    return change
