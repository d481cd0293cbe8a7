"""One push at a time on a host: a lock that dies with its holder."""

from __future__ import annotations

import fcntl
import json
import os
import time
from typing import Any

from dflashtui.pusher.files import make_folder
from dflashtui.pusher.trouble import Refusal, refusal_of

ASK_AGAIN_SECONDS = 0.05
LOOKED_AT_SECONDS = 0.25
"""A look holds the lock for a moment, and who takes it writes his name a moment later: neither is a refusal."""


class Lock:
    """flock(2) on a file that stays; what is written in it says who holds it."""

    def __init__(self, state: str) -> None:
        self._path = os.path.join(state, "lock")
        self._descriptor: int | None = None

    @property
    def is_held(self) -> bool:
        """By us."""
        return self._descriptor is not None

    def take(self, who: str, wait_seconds: float = 0.0) -> None:
        """Raises `Refusal` of the kind `locked` with the holder's name."""
        if self._descriptor is not None:
            return
        make_folder(os.path.dirname(self._path))
        try:
            descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        except OSError as problem:
            raise refusal_of(problem, self._path) from problem
        if not _flocked(descriptor, max(wait_seconds, LOOKED_AT_SECONDS)):
            os.close(descriptor)
            raise Refusal("locked", "another push is under way: %s" % described(self.holder()))
        try:
            _write(descriptor, {"who": who, "since": time.time(), "pid": os.getpid()})
        except OSError as problem:
            os.close(descriptor)
            raise refusal_of(problem, self._path) from problem
        self._descriptor = descriptor

    def release(self) -> None:
        """Say that nobody holds it, and let go."""
        if self._descriptor is None:
            return
        os.ftruncate(self._descriptor, 0)
        os.close(self._descriptor)
        self._descriptor = None

    def holder(self) -> dict[str, Any] | None:
        """Who holds it, if somebody does. Takes nothing and makes no file."""
        try:
            descriptor = os.open(self._path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:
            return None
        try:
            if _flocked(descriptor, 0.0, fcntl.LOCK_SH):
                return None
            found = json.loads(os.read(descriptor, 4096) or b"{}")
        except ValueError:
            return {}
        finally:
            os.close(descriptor)
        return found if isinstance(found, dict) else {}


def _flocked(descriptor: int, wait_seconds: float, kind: int = fcntl.LOCK_EX) -> bool:
    deadline = time.monotonic() + wait_seconds
    while True:
        try:
            fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                return False
            time.sleep(ASK_AGAIN_SECONDS)
        else:
            return True


def _write(descriptor: int, holder: dict[str, Any]) -> None:
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, json.dumps(holder).encode(), 0)


def described(holder: dict[str, Any] | None) -> str:
    """In words, with the host's own clock."""
    if not holder:
        return "who it is, is not known yet"
    since = time.strftime("%H:%M:%S UTC", time.gmtime(float(holder.get("since", 0))))
    return "%s since %s (process %s)" % (holder.get("who", "somebody"), since, holder.get("pid", "?"))
