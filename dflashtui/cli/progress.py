"""What goes on while a person waits: on stderr, where that is a terminal."""

from __future__ import annotations

import shutil
import sys
from typing import TYPE_CHECKING

from dflashtui.ops.probe_report import progress

if TYPE_CHECKING:
    from dflashtui.model.probe import ProbeUpdate

ERASE_LINE = "\r\x1b[K"


class Progress:
    """One line that is written over where a single start is watched; a line for each piece of news of several."""

    def __init__(self, count: int) -> None:
        self._is_shown = sys.stderr.isatty()
        self._is_single = count == 1

    def tell(self, update: ProbeUpdate) -> None:
        """Show the newest; the verdict takes its place."""
        if not self._is_shown:
            return
        if self._is_single:
            width = shutil.get_terminal_size().columns - 1
            sys.stderr.write(ERASE_LINE + ("" if update.result else progress(update)[:width]))
        elif update.result is None:
            sys.stderr.write(f"{progress(update)}\n")
        sys.stderr.flush()
