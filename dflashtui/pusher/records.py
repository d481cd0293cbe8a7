"""What is kept of changes: numbered records, and the bytes that they replaced."""

from __future__ import annotations

import json
import os
import re
from typing import Any

from dflashtui.pusher import files
from dflashtui.pusher.trouble import Refusal, refusal_of

KEPT = 20
"""Records of one unit; what no record names any more is removed."""
RECORD = re.compile(r"([0-9]{1,9})\.json\Z")
FORMAT = 1
PRIVATE = 0o600
PENDING = "pending"


def quoted(name: str) -> str:
    """A name of any characters as a plain file name."""
    plain = "".join(char if char.isalnum() or char in "@:_.-" else "%%%02X" % ord(char) for char in name)
    return "%2E" + plain[1:] if plain.startswith(".") else plain


class Store:
    """The folder of one unit, or of one overlay. Looking makes no folder."""

    def __init__(self, state: str, kind: str, name: str) -> None:
        """`kind`: `units` or `overlays`; `name` may hold any character."""
        self.kind = kind
        self.name = name
        self.folder = os.path.join(state, kind, quoted(name))
        self._texts = os.path.join(self.folder, "texts")

    @classmethod
    def at(cls, folder: str, kind: str) -> Store:
        """One that is there."""
        store = cls(os.path.dirname(os.path.dirname(folder)), kind, os.path.basename(folder))
        store.folder, store._texts = folder, os.path.join(folder, "texts")
        return store

    def records(self) -> list[dict[str, Any]]:
        """Oldest first. Raises `Refusal` if they cannot be read; one that is broken is left out."""
        try:
            names = os.listdir(self.folder)
        except FileNotFoundError:
            return []
        except OSError as problem:
            raise refusal_of(problem, self.folder) from problem
        numbers = sorted(int(found[1]) for found in map(RECORD.match, names) if found)
        return [record for record in map(self._read, numbers) if record]

    def _read(self, number: int) -> dict[str, Any] | None:
        try:
            record = json.loads(files.content(self._path(number)))
        except (OSError, ValueError, Refusal):
            return None
        usable = isinstance(record, dict) and record.get("format") == FORMAT and isinstance(record.get("files"), list)
        return record if usable else None

    def _path(self, number: int) -> str:
        return os.path.join(self.folder, "%d.json" % number)

    def write(self, record: dict[str, Any]) -> None:
        """On disk when this returns. Raises `Refusal`."""
        files.make_folder(self.folder)
        files.replace(self._path(record["number"]), json.dumps({**record, "format": FORMAT}).encode(), PRIVATE)

    def next_number(self) -> int:
        """One more than the newest, also where that one is broken."""
        try:
            names = os.listdir(self.folder)
        except FileNotFoundError:
            return 1
        return 1 + max((int(found[1]) for found in map(RECORD.match, names) if found), default=0)

    def keep(self, data: bytes) -> str:
        """Its sha256, once the bytes are on disk. Raises `Refusal`."""
        name = files.sha256(data)
        if not self.has(name):
            files.make_folder(self._texts)
            files.replace(os.path.join(self._texts, name), data, PRIVATE)
        return name

    def has(self, name: str) -> bool:
        """Whether a text is there, and whole."""
        try:
            return files.sha256(files.content(os.path.join(self._texts, name))) == name
        except (OSError, Refusal):
            return False

    def text(self, name: str) -> bytes:
        """The bytes of a kept text. Raises `Refusal` if they are gone, or are not what they were."""
        try:
            data = files.content(os.path.join(self._texts, name))
        except OSError as problem:
            words = "the kept text %s of %s cannot be read: %s" % (name[:12], self.name, problem.strerror)
            raise Refusal("no-text", words) from problem
        if files.sha256(data) != name:
            raise Refusal(
                "no-text", "the kept text %s of %s is damaged: nothing is put back from it" % (name[:12], self.name)
            )
        return data

    def sweep(self) -> None:
        """Remove files on their way that were left. Only under the lock."""
        for folder in (self.folder, self._texts):
            for part in files.parts(folder):
                files.drop(part)

    def tidy(self) -> None:
        """Remove records beyond the newest, and texts that none names."""
        records = self.records()
        for record in records[:-KEPT]:
            files.drop(self._path(record["number"]))
        named = {one.get(side) for record in records[-KEPT:] for one in record["files"] for side in ("before", "after")}
        for name in os.listdir(self._texts) if os.path.isdir(self._texts) else ():
            if name not in named:
                files.drop(os.path.join(self._texts, name))
