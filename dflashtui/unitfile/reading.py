"""Unit files and drop-ins, read as systemd reads them (src/shared/conf-parser.c, systemd.syntax(7)).

Lines end at newline, carriage return or NUL; `#` and `;` comment only where they begin a line; an odd number of
backslashes at the end of a line goes on with the next one, past comments; a section may come again.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

LINE_END = re.compile(r"\r\n|\n\r|[\n\r\0]")
BLANKS = " \t\n\r"
LAST_BACKSLASHES = re.compile(r"\\+\Z")
CAT_HEADER = re.compile(r"^# (/\S+(?:\.conf|\.(?:service|socket|timer|target|path|slice)))$", re.MULTILINE)
"""What `systemctl cat` writes above each file."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One assignment."""

    section: str
    key: str
    value: str
    line: int
    """Of its key, from 1 on, in its own file."""
    file: str | None = None
    """`None`: the only file, or not known."""


@dataclass(frozen=True, slots=True)
class Header:
    """The beginning of a section."""

    section: str
    line: int
    file: str | None = None


@dataclass(frozen=True, slots=True)
class Slip:
    """A line that systemd skips, with a warning at most."""

    id: str
    line: int
    text: str
    file: str | None = None


@dataclass(frozen=True, slots=True)
class UnitFile:
    """A unit's assignments, in the order in which they count, those of drop-ins last."""

    entries: tuple[Entry, ...] = ()
    slips: tuple[Slip, ...] = ()
    headers: tuple[Header, ...] = ()

    def all(self, section: str, key: str) -> tuple[Entry, ...]:
        """Every assignment of a list key that counts: an empty one takes back those before it."""
        found: list[Entry] = []
        for entry in self.entries:
            if (entry.section, entry.key) == (section, key):
                found = [*found, entry] if entry.value else []
        return tuple(found)

    def last(self, section: str, key: str) -> Entry | None:
        """The assignment of a single-value key that counts; `None`: there is none, or it was taken back."""
        found = self.all(section, key)
        return found[-1] if found else None

    def value(self, section: str, key: str, default: str = "") -> str:
        """What a single-value key is set to."""
        entry = self.last(section, key)
        return entry.value if entry else default


def read(text: str, file: str | None = None) -> UnitFile:
    """One file."""
    return _gathered(_parsed(text, file))


def read_all(files: Iterable[tuple[str, str]]) -> UnitFile:
    """A unit file and its drop-ins, in the order of `systemctl cat`: pairs of path and text."""
    return _gathered(part for path, text in files for part in _parsed(text, path))


def read_cat(text: str) -> UnitFile:
    """What `systemctl cat` prints: every file under a comment with its path."""
    return read_all(files_of_cat(text)) if CAT_HEADER.match(text) else read(text)


def files_of_cat(text: str) -> tuple[tuple[str, str], ...]:
    """The files in what `systemctl cat` prints: pairs of path and text."""
    heads = [head for head in CAT_HEADER.finditer(text) if head.start() == 0 or text[: head.start()].endswith("\n\n")]
    ends = [*(head.start() - 1 for head in heads[1:]), len(text)][: len(heads)]
    return tuple((head[1], text[head.end() + 1 : end]) for head, end in zip(heads, ends, strict=True))


def _gathered(parts: Iterable[Entry | Slip | Header]) -> UnitFile:
    found = tuple(parts)
    return UnitFile(
        tuple(part for part in found if isinstance(part, Entry)),
        tuple(part for part in found if isinstance(part, Slip)),
        tuple(part for part in found if isinstance(part, Header)),
    )


def _parsed(text: str, file: str | None) -> Iterator[Entry | Slip | Header]:
    section = ""
    for line, words in logical_lines(text):
        if words.startswith("["):
            section = words[1:-1] if words.endswith("]") else ""
            yield Header(section, line, file) if section else Slip("section-header", line, words, file)
        elif "=" not in words:
            yield Slip("no-assignment", line, words, file)
        elif not section:
            yield Slip("outside-section", line, words, file)
        else:
            key, _, value = words.partition("=")
            yield Entry(section, key.strip(BLANKS), value.strip(BLANKS), line, file)


def logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines that say something, continued ones as one, with the number of their first line."""
    kept, first = "", 0
    for number, line in enumerate(physical_lines(text), 1):
        if line.lstrip(BLANKS)[:1] in {"#", ";"}:
            continue
        first = first if kept else number
        kept += line
        if is_continued(kept):
            kept = kept[:-1] + " "
            continue
        if words := kept.strip(BLANKS):
            yield first, words
        kept = ""
    if words := kept.strip(BLANKS):
        yield first, words


def physical_lines(text: str) -> Sequence[str]:
    """The lines as systemd's `read_line` cuts them; a byte order mark is skipped."""
    return LINE_END.split(text.removeprefix("\ufeff"))


def is_continued(line: str) -> bool:
    """Whether the next line belongs to it."""
    tail = LAST_BACKSLASHES.search(line)
    return tail is not None and len(tail[0]) % 2 == 1
