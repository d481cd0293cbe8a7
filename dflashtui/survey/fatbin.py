"""Which GPUs the CUDA code in a file was built for, from the headers of its fat binaries (section .nv_fatbin).

Each container: magic, version, header's size, size of all entries; each entry: kind, header's size, payload's size, …,
and the architecture at its 28th byte. Seen so in files of CUDA 12 and 13 (cuobjdump --list-elf tells the same).
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any, Dict, Iterator, Set, Tuple

if TYPE_CHECKING:
    from dflashtui.survey.elf import Elf

MAGIC = 0xBA55ED50
SECTION = ".nv_fatbin"
PTX, CUBIN = 1, 2
MOST_CONTAINERS = 256
MOST_ENTRIES = 64
ALIGNED = 8


def architectures(elf: Elf) -> Dict[str, Any]:
    """`sm`: numbers such as 90 and 120 that code is there for; `ptx`: those the driver can compile it from.

    The first 256 containers speak for all of a large file; `{}`: it has no CUDA code.
    """
    section = elf.section(SECTION)
    if section is None:
        return {}
    found: Dict[int, Set[int]] = {CUBIN: set(), PTX: set()}
    for kind, architecture in _entries(elf, *section):
        if kind in found:
            found[kind].add(architecture)
    return {"sm": sorted(found[CUBIN]), "ptx": sorted(found[PTX])} if any(found.values()) else {}


def _entries(elf: Elf, at: int, size: int) -> Iterator[Tuple[int, int]]:
    end = at + size
    for _ in range(MOST_CONTAINERS):
        if at + 16 > end:
            return
        magic, _, header, length = struct.unpack("<IHHQ", elf.read(at, 16))
        if magic != MAGIC:
            return
        yield from _of_container(elf, at + header, min(at + header + length, end))
        at += -(-(header + length) // ALIGNED) * ALIGNED


def _of_container(elf: Elf, at: int, end: int) -> Iterator[Tuple[int, int]]:
    for _ in range(MOST_ENTRIES):
        if at + 32 > end:
            return
        kind, _, header, length = struct.unpack("<HHIQ", elf.read(at, 16))
        (architecture,) = struct.unpack("<I", elf.read(at + 28, 4))
        yield kind, architecture
        at += header + length
