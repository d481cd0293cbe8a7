"""Where packages lie, and where an exchange keeps what it works with."""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
import time
from typing import Any, Dict, Iterator, List, Optional

FOLDER = ".dflashtui-sync"
RECORD = "record.json"
ID = re.compile(r"[0-9a-f]{8,64}\Z")
KEPT_RECORDS = 5
"""Older exchanges, which can no longer be undone before later ones anyway, are forgotten."""
BEGUN_SECONDS = 7 * 86400.0
"""How long files wait for the rest of their exchange."""


class Refusal(Exception):
    """Nothing, or nothing more, was changed; the message says why."""


class Places:
    """One environment. `site`: its folder of packages; `prefix`: nothing outside of it is touched."""

    def __init__(self, site: str, prefix: str) -> None:
        self.site = site
        self.prefix = os.path.realpath(prefix)
        self.root = os.path.join(os.path.dirname(site.rstrip("/")), FOLDER)

    def target(self, path: str) -> str:
        """A file of a package by its name in a RECORD. Raises `Refusal` if it lies outside, through links or not."""
        full = os.path.normpath(os.path.join(self.site, path))
        parent = os.path.realpath(os.path.dirname(full))
        if "\0" in path or os.path.isabs(path) or not self._is_inside(parent):
            raise Refusal("%s: lies outside of %s" % (path, self.prefix))
        return os.path.join(parent, os.path.basename(full))

    def _is_inside(self, folder: str) -> bool:
        return folder == self.prefix or folder.startswith(self.prefix.rstrip("/") + "/")

    def folder(self, name: str, *parts: str) -> str:
        """The folder of one exchange, made if it is not there. Raises `Refusal` for a name that is none of ours."""
        if not ID.match(name):
            raise Refusal("%r names no exchange" % name)
        path = os.path.join(self.root, name, *parts)
        os.makedirs(path, mode=0o700, exist_ok=True)
        return path

    def locked(self) -> int:
        """Hold the environment for this process alone. Raises `Refusal` if another one does."""
        os.makedirs(self.root, mode=0o700, exist_ok=True)
        descriptor = os.open(os.path.join(self.root, "lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(descriptor)
            raise Refusal("somebody else exchanges packages in %s at this moment" % self.prefix) from None
        return descriptor

    def keep(self, record: Dict[str, Any]) -> None:
        """Write the record of an exchange, whole at every moment."""
        path = os.path.join(self.folder(record["id"]), RECORD)
        with open(path + ".new", "w", encoding="utf-8") as file:
            json.dump(record, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(path + ".new", path)

    def records(self) -> List[Dict[str, Any]]:
        """Every exchange that is known, the newest first."""
        found = [record for record in self._records() if record]
        return sorted(found, key=lambda record: record["at"], reverse=True)

    def _records(self) -> Iterator[Optional[Dict[str, Any]]]:
        if not os.path.isdir(self.root):
            return
        for name in os.listdir(self.root):
            try:
                with open(os.path.join(self.root, name, RECORD), encoding="utf-8") as file:
                    record = json.load(file)
                yield record if record["id"] == name and isinstance(record["at"], float) else None
            except (OSError, ValueError, KeyError, TypeError):
                continue

    def forget_old(self) -> None:
        """Keep the newest few, and what arrived lately for an exchange that was cut."""
        kept = {record["id"] for record in self.records()[:KEPT_RECORDS]}
        for name in filter(ID.match, os.listdir(self.root)):
            path = os.path.join(self.root, name)
            is_begun = not os.path.exists(os.path.join(path, RECORD))
            if name not in kept and not (is_begun and time.time() - os.path.getmtime(path) < BEGUN_SECONDS):
                shutil.rmtree(path, ignore_errors=True)


def link_or_copy(source: str, target: str) -> None:
    """The same bytes under another name; hard links are not possible everywhere."""
    if os.path.lexists(target):
        os.unlink(target)
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError:
        shutil.copy2(source, target, follow_symlinks=False)


def forget_compiled(path: str) -> None:
    """What Python compiled of a module that is another one now."""
    folder, name = os.path.split(path)
    if not name.endswith(".py"):
        return
    cache = os.path.join(folder, "__pycache__")
    try:
        names = os.listdir(cache)
    except OSError:
        return
    for one in names:
        if one.startswith(name[:-2]) and one.endswith(".pyc"):
            os.unlink(os.path.join(cache, one))


def tidy(path: str, site: str) -> None:
    """Remove the folders of a file that is gone, as far as they are empty."""
    folder = os.path.dirname(path)
    while folder.startswith(site.rstrip("/") + "/"):
        cache = os.path.join(folder, "__pycache__")
        try:
            if os.listdir(folder) == ["__pycache__"]:
                shutil.rmtree(cache)
            os.rmdir(folder)
        except OSError:
            return
        folder = os.path.dirname(folder)
