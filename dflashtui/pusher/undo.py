"""An undo that the host does by itself: armed before a change, called off by whoever sees that all is well."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from dflashtui.pusher import files
from dflashtui.pusher.change import DONE
from dflashtui.pusher.manager import Manager, last_line
from dflashtui.pusher.records import Store
from dflashtui.pusher.trouble import Refusal

if TYPE_CHECKING:
    from dflashtui.pusher.places import Places

UNDO = "undo"
"""The action of a record that the host's own timer has made."""


class Undo:
    """Timers `dflashtui-undo-CHANGE.timer`; the program that they run lies in the state folder meanwhile."""

    def __init__(self, places: Places, manager: Manager) -> None:
        self._places = places
        self._manager = manager

    def _path(self, change: str) -> str:
        return os.path.join(self._places.state, "undo-%s.py" % change)

    def arm(self, change: str, seconds: float, program: str, order: dict[str, Any]) -> str:
        """Gives the timer's name. `program` reads `order` as its first lines. Raises `Refusal`."""
        python = self._places.program("python3")
        if python is None:
            raise Refusal("no-program", "python3 is not installed on this host")
        path = self._path(change)
        files.make_folder(self._places.state)
        files.replace(path, _standing_alone(program, order).encode(), 0o600)
        name = "dflashtui-undo-%s" % change
        user = ("--user",) if self._places.is_user else ()
        timer = ("--on-active=%.1f" % seconds, "--unit=" + name, "--timer-property=AccuracySec=100ms", "--collect")
        status, _, err = self._manager.run("systemd-run", *user, "--quiet", *timer, python, "-I", "-S", path)
        if status:
            files.drop(path)
            raise Refusal("no-timer", "systemd-run: %s" % (last_line(err) or "exit %d" % status))
        return name + ".timer"

    def disarm(self, change: str) -> str:
        """`confirmed`: it will not fire; `undone`: it did, and the old files are back. Call under the lock."""
        if any(record.get("action") == UNDO and record["state"] == DONE for record in self.records(change)):
            return "undone"
        files.drop(self._path(change))
        name = "dflashtui-undo-%s.timer" % change
        self._manager.systemctl("stop", "--", name)
        return "confirmed"

    def is_called_off(self, change: str) -> bool:
        """Whether somebody disarmed it while this, its program, waited for the lock."""
        return not os.path.exists(self._path(change))

    def end(self, change: str) -> None:
        """It fired; nothing of it is left."""
        files.drop(self._path(change))

    def stores(self) -> list[Store]:
        """Every unit and overlay that was ever changed here."""
        return all_stores(self._places.state)

    def records(self, change: str) -> list[dict[str, Any]]:
        """Those of one change."""
        return [record for store in self.stores() for record in store.records() if record.get("change") == change]


def all_stores(state: str) -> list[Store]:
    """Every unit and overlay that was ever changed here."""
    found = []
    for kind in ("units", "overlays"):
        folder = os.path.join(state, kind)
        names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
        found += [Store.at(os.path.join(folder, name), kind) for name in names]
    return found


def _standing_alone(program: str, order: dict[str, Any]) -> str:
    """A program that reads its orders from itself instead of from stdin."""
    orders = "".join("%s\n" % one for one in order["lines"])
    return "import io, sys\nsys.stdin = io.TextIOWrapper(io.BytesIO(%r))\n%s" % (orders.encode(), program)
