"""Which lines belong together: tracebacks, and indented lines after another. Pure.

Each process has its own state, for several write into one journal. Lines may carry a prefix of the engine
(`(EngineCore pid=7) ERROR 12-01 03:00:01 [core.py:9] `): what counts is the text after it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from dflashtui.model.journal import Priority

if TYPE_CHECKING:
    from dflashtui.tui.log.record import Record, Source

PREFIX = re.compile(r"(?:\([A-Za-z_]\w*(?: pid=\d+)?\) )?(?:(?:ERROR|INFO|WARNING) [\d-]+ [\d:]+ \[[^\]]*\] )?")
TRACEBACK = "Traceback (most recent call last)"
JOINTS = ("During handling of the above exception", "The above exception was the direct cause")
PROCESSES_KEPT = 64
LONGEST_BLOCK = 2000


class Open(NamedTuple):
    """A block that the next line of its process may go on."""

    state: str
    """`traceback` until its exception was told, `tail` while only indented lines follow, `plain` after no error."""
    head: Record


class Blocks:
    """Marks records one after another."""

    def __init__(self) -> None:
        self._open: dict[tuple[Source | None, int | None], Open] = {}

    def mark(self, record: Record) -> None:
        """Say whether it continues a block; lines of an error's block are as bad as its first one."""
        entry = record.entry
        if entry is None:
            return
        writer = record.source, entry.pid
        before = self._open.pop(writer, None)
        state = self._next(before.state if before else "", record)
        if state == "plain" and before:
            _join(record, before.head)
            self._open[writer] = before
        elif state:
            record.is_in_block = True
            record.level = min(record.level, Priority.ERR)
            head = before.head if before and before.state != "plain" else record
            _join(record, head)
            self._open[writer] = Open(state, head)
        else:
            self._open[writer] = Open("tail" if record.is_error else "plain", record)
        if len(self._open) > PROCESSES_KEPT:
            del self._open[next(iter(self._open))]

    def _next(self, state: str, record: Record) -> str:
        text = record.texts[0]
        if TRACEBACK in text:
            return "traceback"
        if not state:
            return ""
        rest = text[PREFIX.match(text).end() :]  # type: ignore[union-attr]  # it matches the empty text too
        if rest.startswith((" ", "\t")) or (not rest and state != "plain"):
            return state
        if rest.startswith(JOINTS) and state != "plain":
            return "traceback"
        return "tail" if state == "traceback" else ""


def _join(record: Record, head: Record) -> None:
    if record is not head and len(head.block) < LONGEST_BLOCK:
        record.head = head
        head.block.append(record)
