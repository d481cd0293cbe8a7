"""What a follower prints, chunk by chunk, as journal items. No I/O."""

from __future__ import annotations

from datetime import UTC, datetime
from time import monotonic
from typing import TYPE_CHECKING

from dflashtui.errors import DecodeError
from dflashtui.model.journal import JournalEntry, JournalGap
from dflashtui.source.journal_entry import STARTED, decode
from dflashtui.source.journal_place import place
from dflashtui.source.journal_shed import Shedder, unit_name

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from dflashtui.model.journal import JournalItem
    from dflashtui.source.journal_argv import ManagerKind
    from dflashtui.source.journal_cursor import ResumePoint
    from dflashtui.source.journal_shed import Quota

LINE_LIMIT_BYTES = 16 * 2**20
REBOOTED = "the host was restarted: its last lines before may be missing"
OVERRUN = "lines came faster than the console could take them"
UNREADABLE = "what journalctl printed here could not be read"


class LineSplitter:
    """Whole lines out of chunks; an unfinished one waits for its rest, one over the limit is given cut."""

    def __init__(self, limit_bytes: int = LINE_LIMIT_BYTES) -> None:
        self._limit_bytes = limit_bytes
        self._kept = bytearray()
        self._skipping = False

    def feed(self, chunk: bytes) -> list[bytes]:
        """The lines that the chunk completed, without their newlines."""
        if b"\n" not in chunk:
            return self._keep(chunk)
        first, *whole, rest = chunk.split(b"\n")
        lines = self._keep(first)
        if not self._skipping:
            lines.append(bytes(self._kept))
        self._kept.clear()
        self._skipping = False
        return [*lines, *whole, *self._keep(rest)]

    def _keep(self, piece: bytes) -> list[bytes]:
        if self._skipping:
            return []
        self._kept += piece
        if len(self._kept) <= self._limit_bytes:
            return []
        cut = bytes(self._kept[: self._limit_bytes])
        self._kept.clear()
        self._skipping = True
        return [cut]


class Reading:
    """Decodes one follower's output, moves its resume point and puts gaps where something is missing."""

    def __init__(
        self,
        resume: ResumePoint,
        units: Collection[str],
        manager: ManagerKind,
        *,
        repeats: str | None = None,
        quota: Quota | None = None,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        """`repeats`: the cursor of an entry that was given before and comes once more, at first."""
        self._resume = resume
        self._units = units
        self._manager = manager
        self._repeats = repeats
        self._shedder = Shedder(quota, manager) if quota else None
        self._clock = clock
        self._splitter = LineSplitter()
        self._left_out_counts: dict[bytes, int] = {}
        self._told_of_rubbish = False

    def feed(self, chunk: bytes) -> tuple[JournalItem, ...]:
        """The items that the chunk completed."""
        lines = self._splitter.feed(chunk)
        now = self._clock()
        items: list[JournalItem] = []
        for line in lines[:-1]:
            if self._takes(line, now):
                items += self._read(line, now)
        # the last line is always read: its cursor is where a later follower begins
        for line in lines[-1:]:
            items += self._read(line, now)
        return (*items, *self._left_out())

    def _takes(self, line: bytes, now: float) -> bool:
        if self._shedder is None or self._shedder.takes(line, now):
            return True
        unit = self._shedder.unit_of(line)
        self._left_out_counts[unit] = self._left_out_counts.get(unit, 0) + 1
        return False

    def _left_out(self) -> Iterator[JournalGap]:
        for unit, count in self._left_out_counts.items():
            yield JournalGap(at=datetime.now(UTC), reason=OVERRUN, unit=unit_name(unit), entries_lost=count)
        self._left_out_counts.clear()

    def _read(self, line: bytes, now: float) -> Iterator[JournalItem]:
        try:
            item = decode(line, self._units, self._manager)
        except DecodeError:
            yield from self._rubbish(line)
            return
        before, boot_id = self._resume.boot_id, _boot_id(item)
        self._resume.move(item.cursor or "", boot_id, now)
        if self._is_repeated(item):
            return
        yield from self._left_out()
        if before and boot_id and boot_id != before:
            yield JournalGap(at=item.at, reason=REBOOTED)
            if isinstance(item, JournalGap) and item.reason == STARTED:
                return
        yield item

    def _is_repeated(self, item: JournalItem) -> bool:
        repeats, self._repeats = self._repeats, None
        return repeats is not None and item.cursor == repeats

    def _rubbish(self, line: bytes) -> Iterator[JournalGap]:
        """A spoilt entry is told each time, other text (a login banner, an error message) once."""
        is_entry = line.startswith(b"{")
        if line.strip() and (is_entry or not self._told_of_rubbish):
            self._told_of_rubbish = self._told_of_rubbish or not is_entry
            yield JournalGap(at=datetime.now(UTC), reason=UNREADABLE, entries_lost=1 if is_entry else None)


def _boot_id(item: JournalItem) -> str | None:
    if isinstance(item, JournalEntry):
        return item.boot_id
    here = place(item.cursor)
    return here.boot_id if here else None
