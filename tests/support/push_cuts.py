"""`python -m tests.support.push_cuts FOLDER`: kill a push at each of its operations in turn; look what is there.

Prints one JSON line for each scenario: how many moments there were, and what was wrong after which of them.
Every call of the kernel that changes a file has a moment before it, a write also one in its middle.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dflashtui.pusher import files
from dflashtui.pusher.change import Change, FileChange
from dflashtui.pusher.lock import Lock
from dflashtui.pusher.manager import Manager
from dflashtui.pusher.places import Places
from dflashtui.pusher.program import Program
from dflashtui.pusher.records import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

UNIT = "a.service"
OLD, NEW = b"[Service]\nExecStart=/bin/sleep 1\n" * 3, b"[Service]\nExecStart=/bin/sleep 2\n" * 3
KILLED = 77
CHANGING = ("open", "fsync", "fchmod", "fchown", "replace", "unlink", "mkdir", "rmdir", "ftruncate", "pwrite")
PACKAGE = ("a.py", "b.py", "sub/c.py")


class QuietManager(Manager):
    """A manager that takes in everything at once."""

    def unit(self, _name: str) -> dict[str, str] | None:
        return None

    def reload(self) -> None:
        os.close(os.open(os.devnull, os.O_WRONLY | os.O_CREAT))  # a moment of its own

    def pending(self) -> Any:  # noqa: ANN401 - nobody reads it
        return None

    def pending_names(self, _child: object) -> list[str]:
        return []

    def verification(self, *_args: object, **_more: object) -> Any:  # noqa: ANN401 - as above
        return None

    def verdict(self, *_args: object) -> dict[str, Any]:
        return {"status": 0, "lines": []}


def program(root: Path) -> Program:
    places = Places({"manager": "system", "root": str(root)})
    return Program(places, "me", lambda _step: None, QuietManager(places), Lock(places.state))


def unit_path(root: Path) -> Path:
    return root / "etc/systemd/system" / UNIT


def push(root: Path, **wanted: object) -> None:
    """To its end, whatever is there."""
    data = base64.b64encode(NEW).decode()
    text = wanted or {"text": data, "sha256": files.sha256(NEW)}
    here = program(root)
    here.answer({"do": "prepare", "unit": UNIT, "before": files.hash_at(str(unit_path(root))), **text})
    here.answer({"do": "apply", "change": "0" * 16, "unit": UNIT, "reload": True})
    here.close()


def lay(root: Path) -> None:
    """Three files over a package, as one change."""
    here = program(root)
    here.answer({"do": "prepare", "unit": UNIT, "before": files.hash_at(str(unit_path(root))), "remove": True})
    paths = [str(root / "package" / name) for name in PACKAGE]
    changes = [FileChange(name, path, NEW, files.hash_at(path)) for name, path in zip(PACKAGE, paths, strict=True)]
    store = Store(str(root / "var/lib/dflashtui"), "overlays", "package")
    here.queue(Change(store, changes, {"laid": {}}))
    here.answer({"do": "apply", "change": "0" * 16, "unit": UNIT, "reload": True})
    here.close()


def bare(root: Path) -> None:
    unit_path(root).parent.mkdir(parents=True)
    (root / "var/lib").mkdir(parents=True)


def with_old(root: Path) -> None:
    bare(root)
    unit_path(root).write_bytes(OLD)


def with_package(root: Path) -> None:
    bare(root)
    for name in PACKAGE[:2]:
        path = root / "package" / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(OLD)


def with_push(root: Path) -> None:
    with_old(root)
    push(root)


def roll_back(root: Path) -> None:
    push(root, kept=files.sha256(OLD))


def remove(root: Path) -> None:
    push(root, remove=True)


SCENARIOS: dict[str, tuple[Callable[[Path], None], Callable[[Path], None], bytes | None]] = {
    "new": (bare, push, NEW),
    "replaced": (with_old, push, NEW),
    "rolled back": (with_push, roll_back, OLD),
    "removed": (with_push, remove, None),
    "overlay": (with_package, lay, None),
}
"""What is there before, what is done, and what the unit's file is then."""


def main(folder: Path) -> None:
    for name, (before, done, after) in SCENARIOS.items():
        start = folder / name
        before(start)
        moments, wrong = 0, []
        while True:
            moments += 1
            root = folder / "now"
            shutil.copytree(start, root)
            killed = in_child(partial(done, root), kill_at=moments)
            wrong += [f"{moments}: {words}" for words in troubles(root, done, after)]
            shutil.rmtree(root)
            if not killed:
                break
        sys.stdout.write(json.dumps({"scenario": name, "moments": moments - 1, "wrong": wrong}) + "\n")
        sys.stdout.flush()


def troubles(root: Path, again: Callable[[Path], None], after: bytes | None) -> list[str]:
    """What is not as it must be: right after the cut, and after the next push."""
    found = [f"{path}: a text that is neither old nor new" for path in managed(root) if content(path) not in WHOLE]
    in_child(partial(again, root), kill_at=0)
    if content(unit_path(root)) != after:
        found.append("the next push did not put its text there")
    found += [f"{path}: left over" for path in root.rglob("*") if ".dflash-" in path.name or "staged-" in path.name]
    records = [json.loads(path.read_bytes()) for path in root.rglob("*.json")]
    return found + [f"record {one['number']} is pending" for one in records if one["state"] == "pending"]


WHOLE = (None, OLD, NEW)


def managed(root: Path) -> Sequence[Path]:
    return (unit_path(root), *(root / "package" / name for name in PACKAGE))


def content(path: Path) -> bytes | None:
    return path.read_bytes() if path.exists() else None


def in_child(work: Callable[[], None], *, kill_at: int) -> bool:
    """Whether it was killed at that moment; it is not while there are fewer. `0`: it is left alone."""
    child = os.fork()
    if child == 0:
        try:
            if kill_at:
                _instrument(kill_at)
            work()
        except BaseException as problem:  # noqa: BLE001 - the parent is told by the status
            sys.stderr.write(f"{problem!r}\n")
            os._exit(1)
        os._exit(0)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status not in {0, KILLED}:
        raise RuntimeError(f"a push failed by itself (status {status})")
    return status == KILLED


def _instrument(kill_at: int) -> None:
    left = kill_at

    def tick() -> None:
        nonlocal left
        left -= 1
        if left == 0:
            os._exit(KILLED)

    def ticking(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **more: Any) -> Any:  # noqa: ANN401 - whatever the kernel is asked
            if real is not really_open or args[1] & os.O_CREAT:
                tick()
            return real(*args, **more)

        return call

    def write(descriptor: int, data: bytes) -> int:
        half = len(data) // 2
        count = real_write(descriptor, data[:half])
        tick()
        return count + real_write(descriptor, data[half:])

    real_write, really_open = os.write, os.open
    os.write = ticking(write)
    for name in CHANGING:
        setattr(os, name, ticking(getattr(os, name)))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
