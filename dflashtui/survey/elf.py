"""What the loader reads of an ELF file (gABI, elf(5)): libraries, search paths, versions, symbols.

Every read is bounded: a damaged or hostile file ends in `ElfError`, in time linear to what it really holds.
"""

from __future__ import annotations

import os
import struct
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Set, Tuple

BLOCK = 1 << 16
HEADER, CLASS_64 = 64, 2
MOST_BLOCKS = 1024
MOST_ENTRIES = 4096
NAME_LIMIT = 1 << 16
READ_LIMIT = 1 << 29
"""Bytes of one file that are looked at: a damaged table may name the same ones again and again."""
LOAD, DYNAMIC = 1, 2
NEEDED, STRTAB, SYMTAB, SONAME, RPATH, RUNPATH = 1, 5, 6, 14, 15, 29
GNU_HASH, VERDEF, VERDEFNUM, VERNEED, VERNEEDNUM = 0x6FFFFEF5, 0x6FFFFFFC, 0x6FFFFFFD, 0x6FFFFFFE, 0x6FFFFFFF
WEAK_VERSION, WEAK_SYMBOL = 2, 2
MOST_IN_CHAIN = 1024


class ElfError(Exception):
    """No ELF file that this machine could load; the message says what is wrong with it."""


class Version(NamedTuple):
    """A symbol version that a file wants of a library."""

    library: str
    name: str
    is_weak: bool


class Hashes(NamedTuple):
    """Where the tables of a file's own symbols lie (.gnu.hash); no buckets: there is none."""

    buckets: int
    first: int
    """The first symbol that is hashed: those before are of others."""
    first_bucket: int
    chains: int
    symbols: int
    names: int


class Reader:
    """Bytes of a file by offset, in blocks that are kept."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._blocks: Dict[int, bytes] = {}
        self._left = READ_LIMIT

    def read(self, offset: int, size: int) -> bytes:
        """Exactly `size` bytes. Raises `ElfError` where the file has none."""
        found = self.upto(offset, size)
        if len(found) != size:
            raise ElfError("it ends too early: is it whole?")
        return found

    def upto(self, offset: int, size: int) -> bytes:
        """At most `size` bytes."""
        self._left -= size
        if self._left < 0:
            raise ElfError("its tables lead in circles")
        if offset > 1 << 48:
            return b""
        first, start = divmod(offset, BLOCK)
        if start + size <= BLOCK:
            return self._block(first)[start : start + size]
        last = (offset + size - 1) // BLOCK
        data = b"".join([self._block(number) for number in range(first, last + 1)])
        return data[start : start + size]

    def _block(self, number: int) -> bytes:
        found = self._blocks.get(number)
        if found is None:
            if len(self._blocks) >= MOST_BLOCKS:
                self._blocks.clear()
            found = self._blocks[number] = os.pread(self._descriptor, BLOCK, number * BLOCK)
        return found


class Elf:
    """One open file. Raises `ElfError` and `OSError` when made, `ElfError` later on."""

    def __init__(self, path: str) -> None:
        self._descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            self._read = Reader(self._descriptor)
            self._open()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Give the file back."""
        os.close(self._descriptor)

    def __enter__(self) -> Elf:  # noqa: PYI034 - runs on Python 3.8
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _open(self) -> None:
        head = self._read.upto(0, HEADER)
        if head[:4] != b"\x7fELF":
            raise ElfError("no ELF file")
        if len(head) < HEADER:
            raise ElfError("it ends too early: is it whole?")
        if head[4] != CLASS_64:
            raise ElfError("wrong ELF class: 32 bits")
        if head[5] not in (1, 2):
            raise ElfError("neither little nor big endian")
        self._endian = "<" if head[5] == 1 else ">"
        (self.machine, _, _, programs, self._sections, _, _, size, count, _, self._section_count, self._names_at) = (
            self._unpack("HIQQQIHHHHHH", head[18:HEADER])
        )
        self._hashes: Optional[Hashes] = None
        self._loads: List[Tuple[int, int, int]] = []
        self._tags: Dict[int, List[int]] = {}
        self._segments(programs, size, count)

    def _segments(self, at: int, size: int, count: int) -> None:
        dynamic = None
        for number in range(min(count, MOST_ENTRIES)):
            kind, _, offset, address, _, filled, _, _ = self._unpack(
                "IIQQQQQQ", self._read.read(at + number * size, 56)
            )
            if kind == LOAD:
                self._loads.append((address, offset, filled))
            elif kind == DYNAMIC:
                dynamic = offset, filled
        if dynamic:
            self._dynamic(*dynamic)

    def _dynamic(self, at: int, size: int) -> None:
        for number in range(min(size // 16, MOST_ENTRIES)):
            tag, value = self._unpack("qQ", self._read.read(at + number * 16, 16))
            if tag == 0:
                return
            self._tags.setdefault(tag, []).append(value)

    def _unpack(self, form: str, data: bytes) -> Tuple[Any, ...]:
        return struct.unpack(self._endian + form, data)

    def _at(self, address: int) -> int:
        """Where an address of the loaded image lies in the file."""
        for start, offset, size in self._loads:
            if start <= address < start + size:
                return address - start + offset
        raise ElfError("an address that lies in no segment")

    def _tag(self, tag: int) -> Optional[int]:
        found = self._tags.get(tag)
        return found[0] if found else None

    def _name(self, index: int) -> str:
        table = self._tag(STRTAB)
        if table is None:
            raise ElfError("names, but no table of them")
        return self._bytes_at(self._at(table) + index).decode("utf-8", "backslashreplace")

    def _bytes_at(self, offset: int) -> bytes:
        size = 64
        while size <= NAME_LIMIT:
            found, zero, _ = self._read.upto(offset, size).partition(b"\0")
            if zero:
                return found
            size *= 4
        raise ElfError("a name without an end")

    @property
    def is_dynamic(self) -> bool:
        """Whether the loader has anything to do with it."""
        return bool(self._tags)

    def needed(self) -> List[str]:
        """Libraries that it is linked with (DT_NEEDED), in order."""
        return [self._name(index) for index in self._tags.get(NEEDED, ())]

    def soname(self) -> Optional[str]:
        """Its own name (DT_SONAME)."""
        index = self._tag(SONAME)
        return None if index is None else self._name(index)

    def search_path(self) -> Tuple[List[str], bool]:
        """Folders to search, as written, and whether they are of RUNPATH: then any RPATH counts for nothing."""
        for tag in (RUNPATH, RPATH):
            index = self._tag(tag)
            if index is not None:
                return [folder for folder in self._name(index).split(":") if folder], tag == RUNPATH
        return [], False

    def wanted_versions(self) -> List[Version]:
        """What it wants of the libraries it is linked with (.gnu.version_r)."""
        wanted: List[Version] = []
        for at, count, library in self._records(VERNEED, VERNEEDNUM, "HHIII"):
            for flags, name in self._wanted(at, count):
                wanted.append(Version(library, name, bool(flags & WEAK_VERSION)))
                if len(wanted) >= MOST_ENTRIES:
                    return wanted
        return wanted

    def _records(self, tag: int, count_tag: int, form: str) -> Iterator[Tuple[int, int, str]]:
        """Of .gnu.version_r: where the versions of a library lie, how many, which library."""
        table = self._tag(tag)
        at = None if table is None else self._at(table)
        for _ in range(min(self._tag(count_tag) or 0, MOST_ENTRIES)):
            if at is None:
                return
            _, count, name, first, following = self._unpack(form, self._read.read(at, 16))
            yield at + first, count, self._name(name)
            at = at + following if following else None

    def _wanted(self, at: int, count: int) -> Iterator[Tuple[int, str]]:
        for _ in range(min(count, MOST_ENTRIES)):
            _, flags, _, name, following = self._unpack("IHHII", self._read.read(at, 16))
            yield flags, self._name(name)
            if not following:
                return
            at += following

    def defined_versions(self) -> Set[str]:
        """What it offers to others (.gnu.version_d), its own name among them."""
        table = self._tag(VERDEF)
        offered: Set[str] = set()
        at = None if table is None else self._at(table)
        for _ in range(min(self._tag(VERDEFNUM) or 0, MOST_ENTRIES)):
            if at is None:
                break
            _, _, _, _, _, first, following = self._unpack("HHHHIII", self._read.read(at, 20))
            (name,) = self._unpack("I", self._read.read(at + first, 4))
            offered.add(self._name(name))
            at = at + following if following else None
        return offered

    def section(self, name: str) -> Optional[Tuple[int, int]]:
        """Offset and size of a section; `None`: it has none of that name, or was stripped of all."""
        if not self._sections or not self._section_count:
            return None
        names = self._section(min(self._names_at, self._section_count - 1))[1]
        for number in range(min(self._section_count, MOST_ENTRIES)):
            index, at, size = self._section(number)
            if self._bytes_at(names + index) == name.encode():
                return at, size
        return None

    def _section(self, number: int) -> Tuple[int, int, int]:
        header = self._read.read(self._sections + number * 64, 40)
        index, _, _, _, at, size = self._unpack("IIQQQQ", header)
        return index, at, size

    def read(self, offset: int, size: int) -> bytes:
        """Bytes of the file. Raises `ElfError` where it has none."""
        return self._read.read(offset, size)

    def undefined_symbols(self) -> Iterator[bytes]:
        """What it wants of other libraries, without what may stay missing (weak symbols)."""
        table, hashes = self._tag(SYMTAB), self._tag(GNU_HASH)
        if table is None or hashes is None:
            return
        names = self._at(self._tag(STRTAB) or 0)
        symbols = self._at(table)
        (_, first_hashed) = self._unpack("II", self._read.read(self._at(hashes), 8))
        for number in range(1, min(first_hashed, 1 << 20)):
            name, info, _, place = self._unpack("IBBH", self._read.read(symbols + number * 24, 8))
            if place == 0 and info >> 4 != WEAK_SYMBOL:
                yield self._bytes_at(names + name)

    def defines(self, name: bytes, hashed: int) -> bool:
        """Whether it has the symbol; `hashed`: its `gnu_hash`."""
        if self._hashes is None:
            self._hashes = self._hash_table()
        if not self._hashes.buckets:
            return False
        at = self._hashes.first_bucket + hashed % self._hashes.buckets * 4
        (number,) = self._unpack("I", self._read.read(at, 4))
        return number >= self._hashes.first and self._in_chain(name, hashed, number, self._hashes)

    def _hash_table(self) -> Hashes:
        table, hashes = self._tag(SYMTAB), self._tag(GNU_HASH)
        if table is None or hashes is None:
            return Hashes(0, 0, 0, 0, 0, 0)
        at = self._at(hashes)
        buckets, first, bloom_size, _ = self._unpack("IIII", self._read.read(at, 16))
        first_bucket = at + 16 + bloom_size * 8
        chains = first_bucket + (buckets - first) * 4
        return Hashes(buckets, first, first_bucket, chains, self._at(table), self._at(self._tag(STRTAB) or 0))

    def _in_chain(self, name: bytes, hashed: int, number: int, hashes: Hashes) -> bool:
        chains, symbols, names = hashes.chains, hashes.symbols, hashes.names
        for index in range(number, number + MOST_IN_CHAIN):
            (found,) = self._unpack("I", self._read.read(chains + index * 4, 4))
            if found | 1 == hashed | 1:
                at, _, _, place = self._unpack("IBBH", self._read.read(symbols + index * 24, 8))
                if place and self._read.upto(names + at, len(name) + 1) == name + b"\0":
                    return True
            if found & 1:
                return False
        return False


def gnu_hash(name: bytes) -> int:
    """The hash of a symbol's name in .gnu.hash."""
    hashed = 5381
    for byte in name:
        hashed = (hashed * 33 + byte) & 0xFFFFFFFF
    return hashed
