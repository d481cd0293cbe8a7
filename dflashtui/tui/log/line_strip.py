"""Strips that are freed as soon as nobody shows them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.strip import Strip

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class LineStrip(Strip):
    """Textual's strip (8.2) keeps itself in its own cache when it is not cut, and is garbage that only `gc` finds.

    Under a flood that was 30 000 objects a second.
    """

    __slots__ = ()

    def divide(self, cuts: Iterable[int]) -> Sequence[Strip]:
        """As ever, but a strip that stays whole is not remembered by itself."""
        places = list(cuts)
        return [self] if places == [self.cell_length] else super().divide(places)


def freed_by_itself(strip: Strip) -> LineStrip:
    """The same picture."""
    return LineStrip(strip, strip.cell_length)
