"""One line of the log as it is kept: an entry made safe, judged and measured once. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from dflashtui.model.journal import JournalEntry, JournalGap, Priority
from dflashtui.tui.log.levels import level_of
from dflashtui.tui.log.processes import Prefix, prefix_of
from dflashtui.tui.log.sgr import Span, parsed

if TYPE_CHECKING:
    from datetime import datetime

DOT = " · "
LONGEST_LINE = 16_384
MOST_LINES = 200
"""Of one entry; the rest is counted in its last line."""
PROGRESS = re.compile(r"(?P<title>[^%]{2,100}?):?\s+\d{1,3}%\s*(?:\||Completed)")
NUMBERS = re.compile(r"\d+(?:\.\d+)?")


class Source(NamedTuple):
    """Where a line comes from."""

    host: str
    unit: str
    kernel: bool = False
    """The kernel's own lines, beside a unit's."""


SourcedItem = tuple[Source | None, JournalEntry | JournalGap]
"""An item, and where it comes from; `None`: the one unit that is shown."""


@dataclass(slots=True, eq=False)
class Record:
    """Compared by identity; `seq` grows from old to new."""

    seq: int
    item: JournalEntry | JournalGap | None
    """`None`: lines that were not drawn, `count` of them."""
    at: datetime
    texts: tuple[str, ...]
    """Lines that are safe to print."""
    spans: tuple[tuple[Span, ...], ...] = ()
    """Colours of the service, for each line."""
    level: Priority = Priority.INFO
    first_cursor: str | None = None
    """Of the oldest of equal entries."""
    progress: str | None = None
    """The title of a progress bar, numbers taken out."""
    count: int = 1
    """How many equal entries in a row, or states of a bar."""
    last_at: datetime | None = None
    is_in_block: bool = False
    """Part of a traceback or of indented lines after an error."""
    is_marked: bool = False
    source: Source | None = None
    prefix: Prefix | None = None
    """Of the first line; read when somebody asks for it."""
    head: Record | None = None
    """The first line of the block that it belongs to; `None`: it is one itself, or stands alone."""
    block: list[Record] = field(default_factory=list)
    """The records that belong to it, when it is the head of a block."""
    is_folded: bool = False
    """Of its block only this line is shown."""
    is_tail: bool = False
    """In place of everything newer: the window was moved back and does not reach the present."""
    is_hit: bool = False
    """Matches what is searched for."""
    text_from: int = 0
    """Where the shown part of the first line begins: after its prefix, when that stands in a column."""
    row_count: int = field(default=0)
    """Rows on screen; 0: filtered away."""

    @property
    def entry(self) -> JournalEntry | None:
        """The journal entry, if it is one."""
        return self.item if isinstance(self.item, JournalEntry) else None

    @property
    def is_ours(self) -> bool:
        """A gap or a note of this program: never filtered away, and marked where no host's text can be."""
        return not isinstance(self.item, JournalEntry)

    @property
    def is_hole(self) -> bool:
        """Lines are missing here that this console let go itself: the host still has them."""
        if self.item is None:
            return True
        return isinstance(self.item, JournalGap) and self.item.cursor is None and bool(self.item.entries_lost)

    @property
    def process(self) -> str:
        """The process's own name for itself: `TP3`, `EngineCore`, `rank2`; empty: it gives none."""
        return self.own_prefix.process

    @property
    def own_prefix(self) -> Prefix:
        """How the first line begins: 15 µs when it is asked for the first time."""
        if self.prefix is None:
            self.prefix = prefix_of(self.texts[0]) if self.entry is not None else Prefix("", 0)
        return self.prefix

    @property
    def whole_block(self) -> list[Record]:
        """The block that it stands in, first line first; alone if there is none."""
        head = self.head or self
        return [head, *head.block]

    @property
    def last_cursor(self) -> str | None:
        """Of the newest of equal entries."""
        return self.item.cursor if self.item is not None else None

    @property
    def is_error(self) -> bool:
        """Error or worse."""
        return self.level <= Priority.ERR

    @property
    def shown_at(self) -> datetime:
        """Of the newest of equal entries."""
        return self.last_at or self.at


def record_of(seq: int, item: JournalEntry | JournalGap, source: Source | None = None) -> Record:
    """A record of one item of the journal."""
    if isinstance(item, JournalGap):
        return _gap(seq, item, source)
    lines = [parsed(line, LONGEST_LINE) for line in _lines(item.message)]
    texts = tuple(text for text, _ in lines)
    spans = tuple(spans for _, spans in lines) if "\x1b" in item.message else ()
    level = level_of(texts[0], item.priority)
    return Record(seq, item, item.at, texts, spans, level, item.cursor, _progress(texts[0]), source=source)


def unshown(seq: int, count: int, at: datetime, source: Source | None = None, *, is_tail: bool = False) -> Record:
    """In place of lines that came faster than they could be drawn, or that were let go to make room."""
    words = (unshown_words(count, is_tail=is_tail),)
    return Record(seq, None, at, words, level=Priority.NOTICE, count=count, source=source, is_tail=is_tail)


def unshown_words(count: int, *, is_tail: bool = False) -> str:
    """`… 5 312 lines not shown …`."""
    if is_tail and not count:
        return "… newer lines not shown · G goes to the newest …"
    if is_tail:
        return f"… {count:,} newer lines not shown · G goes to the newest …".replace(",", " ")
    return f"… {count:,} lines not shown …".replace(",", " ")


def _gap(seq: int, gap: JournalGap, source: Source | None) -> Record:
    words, _ = parsed(gap.reason, LONGEST_LINE)
    lost = "" if gap.entries_lost is None else f"{DOT}{gap.entries_lost} entries lost"
    if gap.cursor is None and gap.entries_lost:
        lost = f"{DOT}{gap.entries_lost} lines, fetched when looked at"
    texts = (f"gap in the journal: {words}{lost}",)
    return Record(seq, gap, gap.at, texts, level=Priority.WARNING, first_cursor=gap.cursor, source=source)


def _lines(message: str) -> list[str]:
    """Of one entry; of a line that was written over with carriage returns, its last state."""
    lines = message.split("\n") if "\n" in message else [message]
    if len(lines) > MOST_LINES:
        lines = [*lines[: MOST_LINES - 1], f"… {len(lines) - MOST_LINES + 1} more lines"]
    return [_last_state(line) for line in lines] if "\r" in message else lines


def _last_state(line: str) -> str:
    return next((state for state in reversed(line.split("\r")) if state.strip()), "")


def _progress(text: str) -> str | None:
    if "%" not in text:
        return None
    found = PROGRESS.match(text)
    return NUMBERS.sub("#", found["title"]) if found else None
