"""Where reading stopped, and what it means when it goes on elsewhere. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

CURSOR = re.compile(r"s=([0-9a-f]{1,32});i=([0-9a-f]{1,16});b=([0-9a-f]{1,32});")
"""`s`: sequence number id (one per life of a journald), `i`: sequence number, `b`: boot id, all hex."""

SILENCE_SECONDS = 1.0
DOUBT_SECONDS = 60.0


@dataclass(slots=True)
class ResumePoint:
    """The last entry that was handed over whole. Its owner outlives connections, followers only move it."""

    cursor: str | None = None
    is_before_all: bool = False
    """The journal had no entry yet when reading began."""
    boot_id: str | None = None
    moved_at: float | None = None
    """By the reader's own monotonic clock, in seconds."""
    behind_seconds: float = 0.0
    """How far the follower is behind the host's present."""

    def move(self, cursor: str, boot_id: str | None, now: float) -> None:
        """Reading has come that far."""
        self.cursor, self.moved_at = cursor, now
        self.boot_id = boot_id or self.boot_id

    def go_back(self, earlier: ResumePoint) -> None:
        """What was read since did not reach anybody."""
        self.cursor, self.boot_id, self.moved_at = earlier.cursor, earlier.boot_id, earlier.moved_at


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


@dataclass(slots=True)
class Doubt:
    """When to ask whether something was vacuumed away from under a live follower, which says nothing of it.

    A follower that was stopped, or whose reader was, jumps in sequence number after a silence; so does one whose
    units are quiet while others write, so the question is asked once a minute at most.
    """

    asked_at: float | None = None

    def arises(self, before: ResumePoint, cursor: str | None, now: float) -> bool:
        """Whether to ask for the entry of `before`, now that `cursor` came next."""
        silent = before.moved_at is not None and now - before.moved_at >= SILENCE_SECONDS
        may_ask = self.asked_at is None or now - self.asked_at >= DOUBT_SECONDS
        if not silent or not may_ask or not _jumps(place(before.cursor), place(cursor)):
            return False
        self.asked_at = now
        return True


def _jumps(before: Place | None, here: Place | None) -> bool:
    return bool(before and here and before.seqnum_id == here.seqnum_id and here.seqnum > before.seqnum + 1)


@dataclass(frozen=True, slots=True)
class Start:
    """Where a follower begins: its position arguments, the entry it repeats, and what is missing before it."""

    position: tuple[str, ...]
    repeats: str | None = None
    gap: str | None = None


def start_at(cursor: str, found: str | None) -> Start:
    """Given what `at_cursor_argv` found there: that very entry, or another one."""
    if found == cursor:
        return Start((f"--cursor={cursor}",), repeats=cursor)
    return Start((f"--cursor={cursor}",), gap=_why_elsewhere(place(cursor), place(found)))


def start_since(epoch_seconds: int, gap: str) -> Start:
    """By the host's clock, where the cursor leads nowhere."""
    return Start((f"--since=@{epoch_seconds}",), gap=gap)


def _why_elsewhere(wanted: Place | None, found: Place | None) -> str:
    if wanted is None or found is None:
        return "the journal no longer has the last entry that was read"
    if wanted.seqnum_id != found.seqnum_id:
        return "another journal than before: the old one is gone, or the host was set up anew"
    missing = max(0, found.seqnum - wanted.seqnum - 1)
    return f"the journal was vacuumed meanwhile: up to {missing} entries of all units together are gone"
