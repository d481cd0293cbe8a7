"""Lines of facts that can be scrolled."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.content import Content
from textual.reactive import reactive
from textual.widgets import Static

from dflashtui.tui.bar import lines_of
from dflashtui.tui.details.parts import folded

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.binding import BindingType

    from dflashtui.tui.styled import Cell


class DetailPane(VerticalScroll):
    """Facts about one thing."""

    HELP = "Facts about the row that the cursor stands on. Scroll with the arrows or `j` `k`."
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "scroll_down", "Down", show=False, id="detail.down"),
        Binding("k", "scroll_up", "Up", show=False, id="detail.up"),
        Binding("g", "scroll_home", "First", show=False, id="detail.first"),
        Binding("G", "scroll_end", "Last", show=False, id="detail.last"),
    ]
    lines: reactive[tuple[Cell, ...]] = reactive((), repaint=False)

    def __init__(self, *, id: str, label: str = "details") -> None:  # noqa: A002 - Textual's own name
        super().__init__(id=id, classes="pane")
        self._text = Static(markup=False)
        self._line_count = 0
        self.border_title = Content(f" {label} ")

    def compose(self) -> ComposeResult:
        """One block of text."""
        yield self._text

    def watch_lines(self, lines: tuple[Cell, ...]) -> None:
        """Drawn only when something differs."""
        self._draw(lines)

    def on_resize(self) -> None:
        """Another width: other line breaks."""
        self._draw(self.lines)

    def _draw(self, lines: tuple[Cell, ...]) -> None:
        """A new layout costs as much as a whole screen: only for another number of lines."""
        broken = folded(lines, self.room)
        self._text.update(lines_of(broken), layout=len(broken) != self._line_count)
        self._line_count = len(broken)

    @property
    def room(self) -> int:
        """Cells on a line; the same with and without a scroll bar, which comes only when the lines are there."""
        return max(20, self.content_region.width - self.styles.scrollbar_size_vertical - 1)
