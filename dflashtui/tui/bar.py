"""One line with words on both sides: header and footer."""

from __future__ import annotations

from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

from dflashtui.tui.guard import guarded
from dflashtui.tui.styled import EMPTY, Cell, cut, measured, style_of

GAP = 2


def content_of(pieces: Cell) -> Content:
    """Pieces as Textual's content: nothing in them is markup."""
    return Content.assemble(*((text, style_of(tone)) for text, tone in guarded(pieces)))


def lines_of(lines: tuple[Cell, ...]) -> Content:
    """Several lines."""
    return Content("\n").join([content_of(line) for line in lines])


def balanced(left: Cell, right: Cell, width: int) -> Cell:
    """Left and right words on one line; the left gives way, for the right says whether the rest can be believed."""
    last = cut(right, width)
    room = width - measured(last)
    first = cut(left, max(0, room - GAP))
    return (*first, (" " * (room - measured(first)), ""), *last)


class Bar(Widget):
    """One line."""

    left: reactive[Cell] = reactive(EMPTY)
    right: reactive[Cell] = reactive(EMPTY)

    def render(self) -> Content:
        """The line, as wide as there is room."""
        return content_of(balanced(self.left, self.right, self.size.width))
