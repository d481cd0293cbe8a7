"""A page that fills while something goes on: text as it arrives, or figures as they come."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from textual.binding import Binding
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from dflashtui.tui.bar import content_of, lines_of
from dflashtui.tui.details.parts import folded
from dflashtui.tui.mounted import has_parts
from dflashtui.tui.styled import plain

if TYPE_CHECKING:
    import asyncio

    from textual.app import ComposeResult
    from textual.binding import BindingType

    from dflashtui.tui.styled import Cell

LEAST_WIDTH = 20


class Sheet(ModalScreen[None]):
    """`escape` stops what goes on; once it has ended it closes."""

    HELP = "`escape` stops, and closes once it has ended; `c` copies the page."
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "leave", "stop / close", id="sheet.leave"),
        Binding("c", "copy", "copy the page", id="sheet.copy"),
    ]

    def __init__(self, title: Cell, task: asyncio.Task[Any]) -> None:
        """`task`: what goes on; cancelled when a person has seen enough. `end` is expected after it."""
        super().__init__()
        self._title = title
        self._going = task
        self._lines: tuple[Cell, ...] = ()
        self._has_ended = False
        self._text = Static(markup=False)

    def compose(self) -> ComposeResult:
        """The page."""
        with Vertical(classes="dialog wide") as dialog:
            dialog.border_title = content_of(self._title)
            with VerticalScroll(id="page"):
                yield self._text

    def on_mount(self) -> None:
        """Draw what is there."""
        self._draw()

    def on_resize(self) -> None:
        """Another width: other line breaks."""
        self.call_after_refresh(self._draw)

    def show(self, lines: tuple[Cell, ...]) -> None:
        """All that is known by now."""
        self._lines = lines
        self._draw()

    def end(self) -> None:
        """Nothing more comes."""
        self._has_ended = True
        self._draw()

    def _draw(self) -> None:
        if not has_parts(self):
            return
        page = self.query_one("#page")
        self._text.update(lines_of(folded(self._lines, max(LEAST_WIDTH, page.size.width - 2))))
        words = "escape closes · c copies" if self._has_ended else "escape stops"
        self.query_one(Vertical).border_subtitle = Content(words)

    def action_copy(self) -> None:
        """The page as text."""
        self.app.copy_to_clipboard("\n".join(map(plain, self._lines)))

    def action_leave(self) -> None:
        """Stop first, close then."""
        if self._has_ended:
            self.dismiss(None)
        else:
            self._going.cancel()
