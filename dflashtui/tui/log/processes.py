"""Who of a service's processes writes a line, and how much of it only repeats that. Pure."""

from __future__ import annotations

import re
from typing import NamedTuple

from dflashtui.diagnosis.prefixes import strip

STARTS = re.compile(r"[\[(A-Z0-9]")
LONGEST_PREFIX = 160
LONGEST_NAME = 24


class Prefix(NamedTuple):
    """How a line begins."""

    process: str
    """`TP3`, `EngineCore_DP0`, `rank2`; empty: the process gives no name."""
    end: int
    """Characters that only repeat time, level, place and process."""


def prefix_of(text: str) -> Prefix:
    """What a line's writer put before its text (crash-log forms, part 3)."""
    if not STARTS.match(text):
        return Prefix("", 0)
    head = text[:LONGEST_PREFIX]
    found = strip(head)
    end = len(head) - len(found.text) if head.endswith(found.text) else 0
    return Prefix((found.process or "")[:LONGEST_NAME], end)
