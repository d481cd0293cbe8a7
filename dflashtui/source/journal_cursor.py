"""Where reading stopped, and what it means when it goes on elsewhere. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field

from dflashtui.source.journal_doubt import Doubt
from dflashtui.source.journal_place import Place, place


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
    doubt: Doubt = field(default_factory=Doubt)
    """Shared with its copies: what was read before may still turn out to have a hole."""

    def move(self, cursor: str, boot_id: str | None, now: float) -> None:
        """Reading has come that far."""
        self.cursor, self.moved_at = cursor, now
        self.boot_id = boot_id or self.boot_id

    def go_back(self, earlier: ResumePoint) -> None:
        """What was read since did not reach anybody."""
        self.cursor, self.boot_id, self.moved_at = earlier.cursor, earlier.boot_id, earlier.moved_at


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
