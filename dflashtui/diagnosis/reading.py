"""Logs in the forms in which people have them, as bytes: plain text, journalctl's short, json, export."""

from __future__ import annotations

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
        self._skipped = 0
        self._last_dull: tuple[int, bytes] | None = None

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
        for raw in lines:
            self._line(raw)

    def finish(self) -> Verdict:
        """The verdict, once all bytes were fed."""
        if self._export:
            self._exported(b"\n\n")
        elif self._rest:
            if self._number == 0 and self._rest.startswith(b"__CURSOR="):
                self._export = ExportReader()
                self._exported(self._rest + b"\n\n")
            else:
                self._line(self._rest)
        self._flush()
        return self._diagnosis.finish()

    def _line(self, raw: bytes) -> None:
        self._number += 1
        is_entry = raw[:1] in {b"{", b"\x1e"} and journal.is_entry(raw)
        if not self._diagnosis.is_attentive and self._is_dull(raw, is_entry=is_entry):
            self._skipped += 1
            if raw:
                self._last_dull = (self._number, raw)
            return
        self._flush()
        self._diagnosis.feed(_line(raw, self._number))

    def _is_dull(self, raw: bytes, *, is_entry: bool) -> bool:
        if not is_entry:
            return self._sieve.is_dull(raw)
        message = journal.told_message(raw)
        return message is not None and self._sieve.is_dull(message)

    def _flush(self) -> None:
        """Tell of the lines that were left out."""
        if not self._skipped:
            return
        last = None
        if self._last_dull:
            number, raw = self._last_dull
            last = _line(raw, number)
        self._diagnosis.skip(self._skipped, last)
        self._skipped, self._last_dull = 0, None

    def _exported(self, chunk: bytes) -> None:
        if self._export is None:
            return
        for fields in self._export.feed(chunk):
            self._number += 1
            self._diagnosis.feed(journal.line_of(fields, self._number))


def _line(raw: bytes, number: int) -> Line:
    entry = journal.line_of_json(raw, number) if raw[:1] in {b"{", b"\x1e"} and journal.is_entry(raw) else None
    return entry or Line(raw.decode("utf-8", "replace"), number)
