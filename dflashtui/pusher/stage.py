"""A private folder for texts on their way, and their verification there."""

from __future__ import annotations

import os
import subprocess
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Callable

from dflashtui.pusher import files
from dflashtui.pusher.trouble import Refusal, refusal_of

if TYPE_CHECKING:
    from dflashtui.pusher.manager import Manager

PREFIX = "staged-"
CLONE_NEWNS = 0x20000
MS_REC, MS_PRIVATE = 0x4000, 1 << 18
BARE_FOLDERS = ("/mnt", "/media", "/srv")
"""Where a tmpfs may be mounted that nobody else sees."""


class Stage:
    """`staged-…` in the state folder, for its owner alone."""

    def __init__(self, state: str) -> None:
        self._state = state
        self._folder: str | None = None

    def take(self, name: str, data: bytes) -> str:
        """Write a text under its real name; gives the path. Raises `Refusal`."""
        if self._folder is None:
            files.make_folder(self._state)
            folder = os.path.join(self._state, PREFIX + os.urandom(8).hex())
            try:
                os.mkdir(folder, 0o700)
            except OSError as problem:
                raise refusal_of(problem, folder) from problem
            self._folder = folder
        path = os.path.join(self._folder, name)
        try:
            files.drop(path)
            files.write(path, data, 0o600)
        except OSError as problem:
            raise refusal_of(problem, path) from problem
        return path

    def clear(self) -> None:
        """Nothing of it is left."""
        if self._folder is not None:
            remove_folder(self._folder)
            self._folder = None


def remove_folder(folder: str) -> None:
    """A flat one, with what is in it."""
    with suppress(OSError):
        for name in os.listdir(folder):
            files.drop(os.path.join(folder, name))
        os.rmdir(folder)


def clear_others(state: str) -> int:
    """Remove the folders that pushes before us left; how many. Only under the lock."""
    try:
        names = [name for name in os.listdir(state) if name.startswith(PREFIX)]
    except OSError:
        return 0
    for name in names:
        remove_folder(os.path.join(state, name))
    return len(names)


def verified_unseen(manager: Manager, name: str, data: bytes) -> dict[str, Any] | None:
    """Verify a text in a mount namespace of its own: no file appears on the host. `None`: not possible here."""
    folder = next((one for one in BARE_FOLDERS if os.path.isdir(one) and not os.listdir(one)), None)
    if folder is None or os.geteuid() != 0:
        return None
    path = os.path.join(folder, name)
    try:
        child = manager.verification(path, first=_unseen(folder, path, data))
    except (OSError, subprocess.SubprocessError):
        return None
    return manager.verdict(child, path)


def _unseen(folder: str, path: str, data: bytes) -> Callable[[], None]:
    """What the new process does before it becomes the verifier."""
    import ctypes  # noqa: PLC0415 - for dry runs alone

    library = ctypes.CDLL(None, use_errno=True)

    def enter() -> None:
        done = library.unshare(CLONE_NEWNS)
        done = done or library.mount(b"none", b"/", None, MS_REC | MS_PRIVATE, None)
        done = done or library.mount(b"tmpfs", folder.encode(), b"tmpfs", 0, b"size=16m,mode=0700")
        if done:
            raise OSError(ctypes.get_errno(), "no private mount")
        files.write(path, data, 0o600)
        os.chdir(folder)

    return enter


def require_text(data: bytes, sha256: str) -> None:
    """Raises `Refusal` if the bytes are not those that were sent."""
    here = files.sha256(data)
    if here != sha256:
        raise Refusal("damaged", "the text arrived damaged: sha256 %s, sent was %s" % (here[:12], sha256[:12]))
