"""Hosts × steps while a deployment runs: on stderr, where that is a terminal."""

from __future__ import annotations

import shutil
import sys
from typing import TYPE_CHECKING

from dflashtui.ops.deploy_report import table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dflashtui.cli.parser import Options
    from dflashtui.model.deploy import HostDeploy

UP_AND_ERASE = "\x1b[{}A\x1b[J"


class LiveTable:
    """Written over with each change; of more hosts than the terminal has lines, those that changed last."""

    def __init__(self, options: Options, hosts: Sequence[str]) -> None:
        self._is_shown = sys.stderr.isatty() and not options.json
        self._is_ascii = options.ascii
        self._order = list(hosts)
        self._rows: dict[str, HostDeploy] = {}
        self._drawn = 0

    def show(self, row: HostDeploy) -> None:
        """The newest state of a host."""
        self._rows.pop(row.host, None)
        self._rows[row.host] = row
        if self._is_shown:
            self.clear()
            self._draw()

    def clear(self) -> None:
        """Take the table away."""
        if self._drawn:
            sys.stderr.write(UP_AND_ERASE.format(self._drawn))
            sys.stderr.flush()
        self._drawn = 0

    def _draw(self) -> None:
        size = shutil.get_terminal_size()
        newest = list(self._rows.values())[-max(1, size.lines - 3) :]
        shown = sorted(newest, key=lambda row: self._order.index(row.host) if row.host in self._order else 0)
        lines = table(shown, size.columns - 1, is_ascii=self._is_ascii)
        sys.stderr.writelines(f"{line}\n" for line in lines)
        sys.stderr.flush()
        self._drawn = len(lines)
