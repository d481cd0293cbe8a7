"""What known_hosts files say about one host: sshd(8), SSH_KNOWN_HOSTS FILE FORMAT, read as ssh(1) reads it."""

from __future__ import annotations

import base64
import hashlib
import hmac
import threading
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from typing import TYPE_CHECKING

import asyncssh

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

SSH_PORT = 22
MARKERS = {"@cert-authority": "authority", "@revoked": "revoked"}


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a file."""

    path: Path
    number: int
    kind: str
    """`key`, `authority` or `revoked`."""
    hosts: str
    key_text: bytes

    @property
    def place(self) -> str:
        """`/root/.ssh/known_hosts:12`."""
        return f"{self.path}:{self.number}"

    def key(self) -> asyncssh.SSHKey | None:
        """`None`: of a type that is not supported, or damaged."""
        try:
            return asyncssh.import_public_key(self.key_text)
        except ValueError:
            return None

    def names(self, identity: str) -> bool:
        """Whether this line is about `identity`."""
        if self.hosts.startswith("|1|"):
            return _hash_matches(self.hosts, identity)
        patterns = self.hosts.lower().split(",")
        if any(fnmatchcase(identity, _glob(pattern[1:])) for pattern in patterns if pattern.startswith("!")):
            return False
        return any(fnmatchcase(identity, _glob(pattern)) for pattern in patterns)


def _glob(pattern: str) -> str:
    """Only `*` and `?` are wild; a bracket belongs to `[host]:port`."""
    return pattern.replace("[", "[[]")


def _hash_matches(hashed: str, identity: str) -> bool:
    """`|1|salt|hash`, as `HashKnownHosts yes` writes it."""
    try:
        _, _, salt, digest = hashed.split("|")
        found = hmac.new(base64.b64decode(salt), identity.encode(), hashlib.sha1).digest()
        return hmac.compare_digest(found, base64.b64decode(digest))
    except ValueError:
        return False


class _File:
    """The lines of one file, those with plain names by name."""

    def __init__(self, path: Path) -> None:
        self._plain: dict[str, list[Entry]] = {}
        self._others: list[Entry] = []
        for number, line in enumerate(path.read_bytes().splitlines(), 1):
            if entry := _entry(path, number, line):
                self._file(entry)

    def _file(self, entry: Entry) -> None:
        if any(char in entry.hosts for char in "*?|!"):
            self._others.append(entry)
            return
        for name in entry.hosts.lower().split(","):
            self._plain.setdefault(name, []).append(entry)

    def about(self, identity: str) -> Iterator[Entry]:
        yield from self._plain.get(identity, ())
        yield from (entry for entry in self._others if entry.names(identity))


def _entry(path: Path, number: int, line: bytes) -> Entry | None:
    """A line that is neither a comment nor rubbish."""
    words = line.split(None, 2)
    if not words or words[0].startswith(b"#"):
        return None
    kind = MARKERS.get(words[0].decode(errors="replace"), "key")
    rest = words[1:] if kind != "key" else line.split(None, 1)
    if len(rest) != 2:  # noqa: PLR2004 - names and key
        return None
    return Entry(path, number, kind, rest[0].decode(errors="replace"), rest[1])


_files: dict[tuple[Path, int, int], _File] = {}
_files_lock = threading.Lock()


def _read(path: Path) -> _File | None:
    """A file, parsed once for each version of it; `None` if there is none. Raises `OSError`."""
    with _files_lock:
        try:
            status = path.stat()
        except FileNotFoundError:
            return None
        version = (path, status.st_mtime_ns, status.st_size)
        if version not in _files:
            for stale in [known for known in _files if known[0] == path]:
                del _files[stale]
            _files[version] = _File(path)
        return _files[version]


@dataclass(frozen=True)
class Known:
    """All that is known about one host."""

    identity: str
    """`host`, or `[host]:port` for another port than 22."""
    files: tuple[Path, ...]
    entries: tuple[Entry, ...]
    is_own: bool = True
    """`False`: only the same name without the port is known. Its key is good, another one is no change."""

    @cached_property
    def revoked(self) -> tuple[asyncssh.SSHKey, ...]:
        """Never to be trusted."""
        return self._keys("revoked")

    @cached_property
    def trusted(self) -> tuple[asyncssh.SSHKey, ...]:
        """Keys of the host itself."""
        return tuple(key for key in self._keys("key") if key not in self.revoked)

    @cached_property
    def authorities(self) -> tuple[asyncssh.SSHKey, ...]:
        """Keys whose signature makes a host's key trusted."""
        return tuple(key for key in self._keys("authority") if key not in self.revoked)

    def _keys(self, kind: str) -> tuple[asyncssh.SSHKey, ...]:
        keys = (entry.key() for entry in self.entries if entry.kind == kind)
        return tuple(key for key in keys if key is not None)

    def place_of(self, key: asyncssh.SSHKey) -> str:
        """File and line of a known key; of the line that revokes it, if there is one."""
        entries = sorted(self.entries, key=lambda entry: entry.kind != "revoked")
        return next((entry.place for entry in entries if entry.key() == key), str(self.files[0]))


def known(files: Sequence[Path], name: str, port: int) -> Known:
    """What the files say about the host `name`. Blocks; raises `OSError` for a file that cannot be read."""
    found = [file for file in map(_read, files) if file is not None]
    name = name.lower()
    identity = name if port == SSH_PORT else f"[{name}]:{port}"
    entries = _about(found, identity)
    if port == SSH_PORT or any(entry.kind != "revoked" for entry in entries):
        return Known(identity, tuple(files), entries)
    return Known(identity, tuple(files), (*entries, *_about(found, name)), is_own=False)


def _about(files: Iterable[_File], identity: str) -> tuple[Entry, ...]:
    return tuple(entry for file in files for entry in file.about(identity))
