"""Which lines belong together: tracebacks, and indented lines after an error. Pure.

Each process has its own state, for several write into one journal. Lines may carry a prefix of the engine
(`(EngineCore pid=7) ERROR 12-01 03:00:01 [core.py:9] `): what counts is the text after it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from dflashtui.model.journal import Priority

if TYPE_CHECKING:
    from dflashtui.tui.log.record import Record

PREFIX = re.compile(r"(?:\([A-Za-z_]\w*(?: pid=\d+)?\) )?(?:(?:ERROR|INFO|WARNING) [\d-]+ [\d:]+ \[[^\]]*\] )?")
TRACEBACK = "Traceback (most recent call last)"
JOINTS = ("During handling of the above exception", "The above exception was the direct cause")
PROCESSES_KEPT = 64


class Blocks:
    """Marks records one after another."""

    def __init__(self) -> None:
        self._open: dict[int | None, str] = {}
        """By pid: `traceback` until its exception was told, `tail` while only indented lines follow."""

    def mark(self, record: Record) -> None:
        """Say whether it continues a block; lines of a block are as bad as its first one."""
        entry = record.entry
        if entry is None:
            return
        pid = entry.pid
        state = self._next(self._open.pop(pid, ""), record)
        if state:
            record.is_in_block = True
            record.level = min(record.level, Priority.ERR)
            self._open[pid] = state
        elif record.is_error:
            self._open[pid] = "tail"
        if len(self._open) > PROCESSES_KEPT:
            del self._open[next(iter(self._open))]

    def _next(self, state: str, record: Record) -> str:
        text = record.texts[0]
        if TRACEBACK in text:
            return "traceback"
        if not state:
            return ""
        rest = text[PREFIX.match(text).end() :]  # type: ignore[union-attr]  # it matches the empty text too
        if rest.startswith((" ", "\t")) or not rest:
            return state
        if rest.startswith(JOINTS):
            return "traceback"
        return "tail" if state == "traceback" else ""
