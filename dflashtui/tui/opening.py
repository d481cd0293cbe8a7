"""The first picture: the hosts of the inventory, before anything that is slow to import was imported."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.screen import Screen

from dflashtui.text import printable
from dflashtui.tui.bar import Bar
from dflashtui.tui.listing.table import Row
from dflashtui.tui.listing.widget import RowList
from dflashtui.tui.rows.tables import FLEET
from dflashtui.tui.styled import EMPTY, Cell, cell
from dflashtui.tui.subject import host_subject

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from dflashtui.tui.outline import Outline

UNREAD: Cell = (("–", "dim"),)


def opening_row(name: str) -> Row:
    """A host of which only the name is known."""
    shown = printable(name)
    first = (cell("◐", "busy"), cell(shown, "strong"), cell("connecting", "busy"))
    return Row(
        host_subject(name), (*first, *(UNREAD for _ in range(5)), EMPTY), (None, shown, *(None,) * 7), text=shown
    )


class OpeningScreen(Screen[None]):
    """Looks as the fleet view will look."""

    def __init__(self, outline: Outline, badges: Cell) -> None:
        super().__init__()
        self._outline = outline
        self._badges = badges

    def compose(self) -> ComposeResult:
        """Header, hosts, footer."""
        header, hosts, footer = Bar(id="header"), RowList(FLEET, id="opening"), Bar(id="footer")
        header.set_reactive(Bar.left, ((" dflashtui ", "title"), ("  reading the inventory", "dim")))
        header.set_reactive(Bar.right, self._badges)
        footer.set_reactive(Bar.left, ((" ctrl+q", "accent"), (" leave", "dim")))
        hosts.border_title = f"hosts {len(self._outline.hosts)}"
        yield header
        yield hosts
        yield footer

    def on_mount(self) -> None:
        """Draw the names."""
        self.query_one(RowList).rows = tuple(map(opening_row, self._outline.hosts))
