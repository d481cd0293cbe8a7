"""How the console's threads take turns."""

from __future__ import annotations

import sys

SWITCH_SECONDS = 0.0005
"""Textual reads keys and writes pictures in threads of their own. With Python's 5 ms each of them waits that long for
a busy loop: a key came 13 ms later to its picture under a flood of lines (benchmarks/log_pane)."""


def take_turns_quickly() -> None:
    """For the whole process."""
    sys.setswitchinterval(SWITCH_SECONDS)
