"""The table with which torchrun ends: which rank failed first (crash-log forms, part 5)."""

from __future__ import annotations

import re

FAILED = re.compile(r"failed \(exitcode: (?P<code>-?\d+)\) local_rank: (?P<rank>\d+) \(pid: (?P<pid>\d+)\)")
ROOT_CAUSE = "Root Cause (first observed failure):"
RANK = re.compile(r"^\s*rank\s+: (?P<rank>\d+)")
PID = re.compile(r"^\s*exitcode\s+: -?\d+ +\(pid: (?P<pid>\d+)\)")
TABLE_LINES = 12


class Table:
    """Reads the lines behind `Root Cause`."""

    def __init__(self) -> None:
        self._left = 0

    def feed(self, text: str) -> set[str]:
        """The names of the guilty process that this line tells: `rank3`, `pid71`."""
        if ROOT_CAUSE in text:
            self._left = TABLE_LINES
            return set()
        if "exitcode: " in text:
            failed = FAILED.search(text)
            return {f"rank{failed['rank']}", f"pid{failed['pid']}"} if failed else set()
        if not self._left:
            return set()
        self._left -= 1
        rank, pid = RANK.match(text), PID.match(text)
        return {f"rank{rank['rank']}"} if rank else {f"pid{pid['pid']}"} if pid else set()
