"""Where the dynamic loader finds a library: ld.so(8), in its order, with its cache (format 1.1)."""

from __future__ import annotations

import os
import struct
from typing import Dict, Iterable, List, NamedTuple, Optional, Tuple

CACHE = "/etc/ld.so.cache"
MAGIC = b"glibc-ld.so.cache1.1"
OLD_MAGIC = b"ld.so-1.7.0"
HEADER, ENTRY, OLD_HEADER, OLD_ENTRY = 48, 24, 16, 12
X86_64, AARCH64 = 62, 183
CACHE_FLAGS = {X86_64: 0x0300, AARCH64: 0x0A00}
"""The architecture in the second byte of an entry's flags."""
DEFAULT_FOLDERS = ("/lib64", "/usr/lib64", "/lib", "/usr/lib", "/usr/local/lib")
PLATFORMS = {X86_64: "x86_64", AARCH64: "aarch64"}


class Searched(NamedTuple):
    """The folders that an object brings along."""

    origin: str
    """Its own folder."""
    folders: List[str]
    is_runpath: bool


class Loader:
    """The loader of this machine, for one kind of file (`e_machine`)."""

    def __init__(self, machine: int, environment: Dict[str, str], cache: Optional[bytes] = None) -> None:
        """`cache`: the bytes of ld.so.cache, when not the machine's own."""
        self._machine = machine
        self._from_environment = [one for one in environment.get("LD_LIBRARY_PATH", "").split(":") if one]
        self._cache = cached(_bytes(CACHE) if cache is None else cache, machine)
        self._found: Dict[str, bool] = {}

    def find(self, name: str, searched: Searched, of_program: Iterable[str] = ()) -> Optional[str]:
        """The file that is loaded for a name, from an object with these folders; `of_program`: the program's RPATH."""
        if "/" in name:
            return name if self._is_file(name) else None
        own = [expanded(folder, searched.origin, self._machine) for folder in searched.folders]
        before = [] if searched.is_runpath else [*own, *of_program]
        folders = [*before, *self._from_environment, *(own if searched.is_runpath else ())]
        return (
            self._first(name, folders)
            or next((path for path in self._cache.get(name, ()) if self._is_file(path)), None)
            or self._first(name, DEFAULT_FOLDERS)
        )

    def _first(self, name: str, folders: Iterable[str]) -> Optional[str]:
        paths = (os.path.join(folder, name) for folder in folders)
        return next((path for path in paths if self._is_file(path)), None)

    def _is_file(self, path: str) -> bool:
        found = self._found.get(path)
        if found is None:
            found = self._found[path] = os.path.isfile(path)
        return found


def expanded(folder: str, origin: str, machine: int = 0) -> str:
    """A folder with what the loader puts in place of `$ORIGIN`, `$LIB` and `$PLATFORM`."""
    words = {"ORIGIN": origin, "LIB": "lib64", "PLATFORM": PLATFORMS.get(machine, "")}
    for word, value in words.items():
        folder = folder.replace("${%s}" % word, value).replace("$" + word, value)
    return os.path.normpath(folder)


def cached(data: bytes, machine: int) -> Dict[str, List[str]]:
    """The paths of each name in the cache, in its order; `{}`: another format, or none."""
    start = _start(data)
    if start is None or len(data) < start + HEADER:
        return {}
    (count,) = struct.unpack_from("=I", data, start + len(MAGIC))
    room = (len(data) - start - HEADER) // ENTRY
    paths: Dict[str, List[str]] = {}
    for number in range(min(count, room)):
        flags, name, path = struct.unpack_from("=iII", data, start + HEADER + number * ENTRY)
        if machine in CACHE_FLAGS and flags & 0xFF00 != CACHE_FLAGS[machine]:
            continue
        paths.setdefault(_text(data, start + name), []).append(_text(data, start + path))
    return paths


def _start(data: bytes) -> Optional[int]:
    """Where the part of format 1.1 begins: at once, or after one of the format before."""
    if data.startswith(MAGIC):
        return 0
    if not data.startswith(OLD_MAGIC) or len(data) < OLD_HEADER:
        return None
    (count,) = struct.unpack_from("=I", data, 12)
    after = -(-(OLD_HEADER + count * OLD_ENTRY) // 8) * 8
    return after if data[after : after + len(MAGIC)] == MAGIC else None


def _text(data: bytes, at: int) -> str:
    end = data.find(b"\0", at, at + 4096)
    return os.fsdecode(data[at:end]) if end >= 0 else ""


def _bytes(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(1 << 24)
    except OSError:
        return b""


def program_folders(searched: Searched) -> Tuple[str, ...]:
    """What a program's RPATH adds to the search of all that it loads; its RUNPATH adds nothing."""
    if searched.is_runpath:
        return ()
    return tuple(expanded(folder, searched.origin) for folder in searched.folders)
