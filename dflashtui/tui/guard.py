"""The last look at text before it becomes part of a screen. Pure.

Everything from a host passes `printable` where it is made into a piece; this catches what was forgotten there, and
hides the secrets of every piece.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from dflashtui.mask import masked
from dflashtui.text import printable

if TYPE_CHECKING:
    from dflashtui.tui.styled import Cell

UNSAFE = re.compile("[\x00-\x08\x0a-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")
"""Control and format characters that a terminal would act upon; lines are broken before this point."""


def guarded(pieces: Cell) -> Cell:
    """The same pieces, with nothing in them that a terminal acts upon, and no secret."""
    return tuple((_safe(text), tone) for text, tone in pieces)


@lru_cache(maxsize=4096)
def _safe(text: str) -> str:
    hidden = masked(text)
    return printable(hidden) if UNSAFE.search(hidden) else hidden
