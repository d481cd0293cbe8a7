"""What a line that tells a cause by itself is made of."""

from __future__ import annotations

import re
from enum import IntEnum
from typing import NamedTuple


class Weight(IntEnum):
    """How much a line alone says; the smaller goes first."""

    EXPLICIT = 0
    """It names the end of a process and its reason: the kernel's killer, a lost GPU, a step of the manager."""
    FATAL = 1
    """A program ends with such a line."""
    TELLING = 2
    """A cause, if the process ends."""
    GENERAL = 3
    """An error, of which nothing more is known."""
    SIGNALLED = 4
    """A process was ended by a signal that tells a reason."""
    STATUS = 5
    """An exit status or a signal."""
    ASSERTED = 6
    """A program ends itself with such a line; those before it say why, if any does."""


class Form(NamedTuple):
    """`word`: what the line holds, in lower case, asked first because it is cheap. Groups: `text`, `file`, `line`."""

    name: str
    word: str
    pattern: re.Pattern[str]
    weight: Weight
    kind: str | None = None
    """`None`: the text decides."""


def form(name: str, word: str, pattern: str, weight: Weight, kind: str | None = None) -> Form:
    """One more of them."""
    return Form(name, word, re.compile(pattern), weight, kind)
