"""Records of files, kept between surveys in the cache folder of the unit's user: by path, size and time of change."""

from __future__ import annotations

import binascii
import json
import os
import sys
import tempfile
from typing import Any

from dflashtui.survey.reading import record

FORMAT = 2
"""Changes whenever records do."""
LARGEST_BYTES = 8 * 2**20
"""A larger file is no module that a person wrote, and takes the parser minutes."""
MOST_FILES = 20_000


class Kept:
    """The records. Where the folder cannot be written, they last for this survey alone."""

    def __init__(self, folder: str | None) -> None:
        self.read = 0
        """How many files were parsed, not remembered."""
        self.asked = 0
        self._file = None if folder is None else os.path.join(folder, "imports-%d-%s.json" % (FORMAT, _tag()))
        self._old: dict[str, Any] = self._load()
        self._new: dict[str, Any] = {}

    def of(self, path: str) -> dict[str, Any]:
        """The record of a file. Raises `OSError`."""
        found = self._new.get(path)
        if found is None:
            found = self._new[path] = self._fresh(path)
        return found[1]  # type: ignore[no-any-return]

    def _fresh(self, path: str) -> list[Any]:
        self.asked += 1
        state = os.stat(path)
        stamp = [state.st_size, state.st_mtime_ns]
        old = self._old.get(path)
        if isinstance(old, list) and old[:1] == [stamp]:
            return old
        if state.st_size > LARGEST_BYTES:
            return [stamp, {"tree": [], "names": [], "stars": [], "dynamic": True}]
        self.read += 1
        with open(path, "rb") as file:
            return [stamp, record(file.read())]

    def keep(self) -> None:
        """For the next survey, of another unit perhaps."""
        if self._file is None or not self.read:
            return
        records = {**self._old, **self._new}
        if len(records) > MOST_FILES:
            records = self._new
        try:
            _write(self._file, json.dumps(records, separators=(",", ":")).encode())
            _forget_other_formats(os.path.dirname(self._file))
        except OSError:
            return

    def _load(self) -> dict[str, Any]:
        if self._file is None:
            return {}
        try:
            with open(self._file, "rb") as file:
                found = json.loads(file.read())
        except (OSError, ValueError, RecursionError):
            return {}
        return found if isinstance(found, dict) else {}


def folder() -> str | None:
    """Where this user's caches are; `None`: nowhere."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "dflashtui") if os.path.isabs(base) else None


def _forget_other_formats(place: str) -> None:
    """Nobody reads them any more."""
    for name in os.listdir(place):
        if name.startswith("imports-") and not name.startswith("imports-%d-" % FORMAT):
            os.unlink(os.path.join(place, name))


def _tag() -> str:
    """Conditions of a text are settled by the interpreter; each environment has a file of its own."""
    place = binascii.crc32(sys.prefix.encode("utf-8", "surrogateescape"))
    return "%d%d-%d-%08x" % (*sys.version_info[:2], sys.flags.optimize, place)


def _write(path: str, data: bytes) -> None:
    """In whole or not at all."""
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    descriptor, name = tempfile.mkstemp(dir=os.path.dirname(path))
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        os.replace(name, path)
    except OSError:
        os.unlink(name)
        raise
