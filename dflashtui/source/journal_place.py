"""What a cursor tells. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

CURSOR = re.compile(r"s=([0-9a-f]{1,32});i=([0-9a-f]{1,16});b=([0-9a-f]{1,32});")
"""`s`: sequence number id (one per life of a journald), `i`: sequence number, `b`: boot id, all hex."""


@dataclass(frozen=True, slots=True)
class Place:
    """What can be read off a cursor; systemd calls it opaque, so nothing may depend on it but words and order."""

    seqnum_id: str
    seqnum: int
    boot_id: str


def place(cursor: str | None) -> Place | None:
    """`None` for a cursor in an unknown form."""
    found = CURSOR.match(cursor or "")
    return Place(found[1], int(found[2], 16), found[3]) if found else None


def stands_at_or_before(cursor: str, mark: Place | None) -> bool:
    """Whether the entry was numbered no later than `mark` by the same journald; unknown forms are not."""
    here = place(cursor)
    return bool(mark and here and here.seqnum_id == mark.seqnum_id and here.seqnum <= mark.seqnum)
