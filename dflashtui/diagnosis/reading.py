"""Logs in the forms in which people have them, as bytes: plain text, journalctl's short, json, export."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING

from dflashtui.diagnosis import journal
from dflashtui.diagnosis.diagnosis import Diagnosis
from dflashtui.diagnosis.export import ExportReader
from dflashtui.diagnosis.line import Line
from dflashtui.diagnosis.stems import Sieve

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dflashtui.diagnosis.verdict import Verdict

LINE_HEAD_BYTES = 64 * 1024
LINE_TAIL_BYTES = 256 * 1024
CHUNK_BYTES = 256 * 1024
JOURNAL_STARTS = frozenset({b"{", b"\x1e"})
TO_BE_READ = b"systemd"
"""Has a stem."""


def diagnose_bytes(chunks: Iterable[bytes]) -> Verdict:
    """The verdict on a log in any of the forms, read in one pass."""
    reader = LogReader()
    for chunk in chunks:
        reader.feed(chunk)
    return reader.finish()


class LogReader:
    """Chunks in, the verdict out. A line of any length costs bounded memory: its middle is dropped."""

    def __init__(self) -> None:
        self._diagnosis = Diagnosis()
        self._sieve = Sieve()
        self._rest = b""
        self._number = 0
        self._export: ExportReader | None = None

    def feed(self, chunk: bytes) -> None:
        """Take the next bytes."""
        if self._export:
            self._exported(chunk)
            return
        lines = (self._rest + chunk).split(b"\n")
        self._rest = lines.pop()
        if len(self._rest) > 2 * (LINE_HEAD_BYTES + LINE_TAIL_BYTES):
            self._rest = self._rest[:LINE_HEAD_BYTES] + b"\r" + self._rest[-LINE_TAIL_BYTES:]
        if self._number == 0 and lines and lines[0].startswith((b"__CURSOR=", b"_BOOT_ID=", b"__REALTIME_TIMESTAMP=")):
            self._export = ExportReader()
            self._exported(b"\n".join((*lines, self._rest)))
            self._rest = b""
            return
        self._lines(lines)

    def finish(self) -> Verdict:
        """The verdict, once all bytes were fed."""
        if self._export:
            self._exported(b"\n\n")
        elif self._rest:
            if self._number == 0 and self._rest.startswith(b"__CURSOR="):
                self._export = ExportReader()
                self._exported(self._rest + b"\n\n")
            else:
                self._lines([self._rest])
        return self._diagnosis.finish()

    def _lines(self, lines: list[bytes]) -> None:
        has_entries = bool(lines) and (_is_entry(lines[0]) or _is_entry(lines[-1]))
        hot = self._sieve.hot([_telling(raw) for raw in lines] if has_entries else lines)
        at = 0
        while at < len(lines):
            if not self._diagnosis.is_attentive:
                begin, at = at, _from(hot, at, len(lines))
                self._skip(lines, begin, at)
                if at == len(lines):
                    return
            self._number += 1
            self._diagnosis.feed(_line(lines[at], self._number))
            at += 1

    def _skip(self, lines: list[bytes], begin: int, end: int) -> None:
        """Tell of the lines that are left out, and give the last of them that says something."""
        if begin == end:
            return
        last = next((index for index in range(end - 1, begin - 1, -1) if lines[index]), None)
        line = _line(lines[last], self._number + 1 + last - begin) if last is not None else None
        self._number += end - begin
        self._diagnosis.skip(end - begin, line)

    def _exported(self, chunk: bytes) -> None:
        if self._export is None:
            return
        for fields in self._export.feed(chunk):
            self._number += 1
            self._diagnosis.feed(journal.line_of(fields, self._number))


def _from(indexes: list[int], at: int, otherwise: int) -> int:
    """The first of the ordered indexes that is not before `at`."""
    place = bisect_left(indexes, at)
    return indexes[place] if place < len(indexes) else otherwise


def _is_entry(raw: bytes) -> bool:
    return raw[:1] in JOURNAL_STARTS and journal.is_entry(raw)


def _telling(raw: bytes) -> bytes:
    """The bytes that the sieve looks at: of a journal entry its message, or a mark for one that has to be read."""
    if not _is_entry(raw):
        return raw
    message = journal.told_message(raw)
    return TO_BE_READ if message is None else message


def _line(raw: bytes, number: int) -> Line:
    entry = journal.line_of_json(raw, number) if _is_entry(raw) else None
    return entry or Line(raw.decode("utf-8", "replace"), number)
