"""Long text on tabs: details, properties, unit file."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

from dflashtui.tui.bar import content_of, lines_of
from dflashtui.tui.details.parts import folded
from dflashtui.tui.mounted import has_parts
from dflashtui.tui.styled import Cell, cell, plain

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.binding import BindingType

LEAST_WIDTH = 20
WAITING: tuple[Cell, ...] = (cell("asking the host …", "dim"),)


class TextScreen(ModalScreen[None]):
    """Pages of text about one thing; `[` and `]` turn them."""

    HELP = "`[` and `]` turn the pages, `c` copies the page, `escape` leaves."
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,d,y", "leave", "close", id="text.leave"),
        Binding("right_square_bracket,tab", "turn(1)", "next page", id="text.next"),
        Binding("left_square_bracket,shift+tab", "turn(-1)", "previous page", id="text.previous"),
        Binding("c", "copy", "copy the page", id="text.copy"),
        Binding("j", "scroll(1)", "down", show=False, id="text.down"),
        Binding("k", "scroll(-1)", "up", show=False, id="text.up"),
        Binding("g", "far(-1)", "top", show=False, id="text.first"),
        Binding("G", "far(1)", "end", show=False, id="text.last"),
    ]

    def __init__(self, title: Cell, pages: dict[str, tuple[Cell, ...]], page: str) -> None:
        """`pages`: lines by the word on the tab; those without lines are waited for."""
        super().__init__()
        self._title = title
        self._pages = pages
        self._page = page
        self._tabs = Static(id="tabs", markup=False)
        self._text = Static(markup=False)

    def compose(self) -> ComposeResult:
        """Tabs, and the page."""
        with Vertical(classes="dialog wide") as dialog:
            dialog.border_title = content_of(self._title)
            yield self._tabs
            with VerticalScroll(id="page"):
                yield self._text

    def on_mount(self) -> None:
        """The page that was asked for."""
        self.query_one("#page").focus()
        self._draw()

    def fill(self, page: str, lines: tuple[Cell, ...]) -> None:
        """What a page was waiting for."""
        self._pages[page] = lines
        if page == self._page and has_parts(self):
            self._draw()

    def _draw(self) -> None:
        tabs = [(f" {name} ", "title under" if name == self._page else "dim") for name in self._pages]
        self._tabs.update(content_of(tuple(tabs)))
        width = max(LEAST_WIDTH, self.query_one("#page").size.width - 2)
        self._text.update(lines_of(folded(self._pages[self._page] or WAITING, width)))

    def on_resize(self) -> None:
        """Another width: other line breaks."""
        self.call_after_refresh(self._draw)

    def action_turn(self, by: int) -> None:
        """The next page."""
        names = list(self._pages)
        self._page = names[(names.index(self._page) + by) % len(names)]
        self.query_one("#page").scroll_home(animate=False)
        self._draw()

    def action_scroll(self, by: int) -> None:
        """A line."""
        self.query_one("#page").scroll_relative(y=by, animate=False)

    def action_far(self, way: int) -> None:
        """To one end."""
        page = self.query_one("#page")
        (page.scroll_home if way < 0 else page.scroll_end)(animate=False)

    def action_copy(self) -> None:
        """The page as text."""
        text = "\n".join(map(plain, self._pages[self._page]))
        self.app.copy_to_clipboard(text)
        self.notify(f"copied {self._page}: {len(text)} characters", markup=False, timeout=2)

    def action_leave(self) -> None:
        """Back."""
        self.dismiss(None)
