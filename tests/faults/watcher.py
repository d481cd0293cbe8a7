"""An outside watcher for files of a host: every millisecond it hashes them there, and asks nobody.

It sees what a power cut or a curious neighbour would: a file that is half written, absent for a moment, or readable by
others for a moment, also while it is still on its way under another name.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.fleet.harness.host import Host

PROGRAM = r"""
import hashlib, json, os, stat, sys, time
paths, period = sys.argv[1:], 0.001
def state(path):
    try:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return ["absent", 0]
    except OSError as problem:
        return ["errno %d" % problem.errno, 0]
    try:
        status = os.fstat(file)
        if not stat.S_ISREG(status.st_mode):
            return ["no file", status.st_mode]
        return [hashlib.sha256(os.read(file, 1 << 24)).hexdigest(), stat.S_IMODE(status.st_mode)]
    finally:
        os.close(file)
def on_their_way(path):
    folder, name = os.path.split(path)
    for one in os.listdir(folder) if os.path.isdir(folder) else ():
        if one.startswith(name + "."):
            try:
                yield one, stat.S_IMODE(os.lstat(os.path.join(folder, one)).st_mode)
            except FileNotFoundError:
                pass
def look():
    for path in paths:
        now = state(path)
        if last.get(path) != now:
            last[path] = now
            print(json.dumps({"path": path, "hash": now[0], "mode": now[1]}), flush=True)
        for name, mode in on_their_way(path):
            if (name, mode) not in parts:
                parts.add((name, mode))
                print(json.dumps({"path": path, "part": name, "mode": mode}), flush=True)
last, parts, looks, widest = {}, set(), 0, 0.0
look()
print(json.dumps({"began": True}), flush=True)
before = began = time.monotonic()
import select
while not select.select([0], [], [], period)[0]:
    look()
    now = time.monotonic()
    looks, widest, before = looks + 1, max(widest, now - before), now
print(json.dumps({"looks": looks, "widest": widest, "seconds": before - began}), flush=True)
"""
ABSENT = "absent"


class Seen(NamedTuple):
    """One state of a file, other than the one before."""

    path: str
    hash: str
    """sha256 in hex; `absent`; or what else stood there."""
    mode: int


class Part(NamedTuple):
    """A file that was on its way to `path`."""

    path: str
    name: str
    mode: int


class FileWatch:
    """What was seen, once the watch has ended."""

    def __init__(self) -> None:
        self.states: list[Seen] = []
        self.parts: list[Part] = []
        self.looks = 0
        self.seconds = 0.0
        self.widest_seconds = 0.0
        """The longest time between two looks."""

    def hashes(self, path: str) -> list[str]:
        """Every state of a file, in order."""
        return [one.hash for one in self.states if one.path == path]

    def require_whole(self, path: str, *texts: str | bytes | None) -> None:
        """V1: at every look the file was one of these texts (`None`: absent), never another."""
        assert self.looks > 0
        seen, allowed = set(self.hashes(path)), {sha256(text) for text in texts}
        assert seen <= allowed, f"{path}: {seen - allowed} after {self.looks} looks"

    def require_private_parts(self) -> None:
        """B10: what was on its way was never readable by others before it was as wide as the file itself."""
        widest = {one.path: one.mode for one in self.states if one.hash != ABSENT}
        assert [one for one in self.parts if one.mode & ~(widest.get(one.path, 0o644) | 0o600)] == []

    def take(self, line: bytes) -> bool:
        """Read one line of the program. Gives whether it was the line that says that it watches."""
        said = json.loads(line)
        if "hash" in said:
            self.states.append(Seen(said["path"], said["hash"], said["mode"]))
        elif "part" in said:
            self.parts.append(Part(said["path"], said["part"], said["mode"]))
        elif "looks" in said:
            self.looks, self.widest_seconds, self.seconds = said["looks"], said["widest"], said["seconds"]
        return "began" in said


def sha256(text: str | bytes | None) -> str:
    """As the watcher writes it."""
    if text is None:
        return ABSENT
    return hashlib.sha256(text.encode() if isinstance(text, str) else text).hexdigest()


@contextmanager
def watched(host: Host, *paths: str) -> Iterator[FileWatch]:
    """Watch files of a host until the context is left; then the `FileWatch` is filled."""
    watch = FileWatch()
    argv = host.command("python3", "-I", "-u", "-c", PROGRAM, *paths)
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        while not watch.take(child.stdout.readline()):
            pass
        try:
            yield watch
        finally:
            for line in child.communicate(b"\n")[0].splitlines():
                watch.take(line)
