"""A list with its title and its filter line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on
from textual.containers import Vertical
from textual.reactive import reactive
from textual.widgets import Input

from dflashtui.text import printable
from dflashtui.tui.bar import content_of
from dflashtui.tui.listing.widget import RowList
from dflashtui.tui.styled import Cell, cell

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from dflashtui.tui.listing.table import Row, Table


class FilterInput(Input):
    """Typed text narrows the list at once; `enter` keeps it, `escape` drops it."""

    HELP = (
        "`enter` keeps the filter, `escape` drops it. Words must all match; `!word` must not; `*` stands for anything."
    )


class ListPane(Vertical):
    """Title, rows, and the filter while it is typed. The title carries the facts: how many of how many, and why."""

    caption: reactive[Cell | None] = reactive(None, repaint=False)
    """Says more than the noun and the count, where there is more to say."""

    def __init__(self, table: Table, *, id: str) -> None:  # noqa: A002 - Textual's own name
        super().__init__(id=id, classes="pane")
        self.rows = RowList(table)
        self._input = FilterInput(placeholder="filter", compact=True, select_on_focus=False)
        self._input.display = False

    def compose(self) -> ComposeResult:
        """Rows, then the line to type in."""
        yield self.rows
        yield self._input

    def show(self, rows: tuple[Row, ...]) -> None:
        """New values."""
        self.rows.rows = rows

    def on_mount(self) -> None:
        """Say what it is."""
        self.retitle()

    def watch_caption(self) -> None:
        """Say it."""
        self.retitle()

    def start_filter(self) -> None:
        """Type a filter."""
        self._input.value = self.rows.listing.query
        self._input.display = True
        self.screen.set_focus(self._input)  # at once: focus() would come after the next keys

    def end_filter(self) -> None:
        """Keys go to the rows again."""
        self._input.display = False
        self.screen.set_focus(self.rows)

    @property
    def noun(self) -> str:
        """What it lists, in a word."""
        return self.rows.table.noun

    @property
    def is_filtering(self) -> bool:
        """Whether a filter is being typed."""
        return bool(self._input.display)

    @on(Input.Changed)
    def _narrow(self, event: Input.Changed) -> None:
        event.stop()
        if self.is_filtering:
            self.rows.narrow(event.value)

    @on(Input.Submitted)
    def _keep(self, event: Input.Submitted) -> None:
        event.stop()
        self.end_filter()

    @on(RowList.Moved)
    def retitle(self) -> None:
        """Say what is shown, and of how many."""
        title = content_of(self.title())
        if title != self._border_title:
            self.border_title = title

    def title(self) -> Cell:
        """`units 14/212 · problems only · /sglang · by state`."""
        listing = self.rows.listing
        position = listing.sort_position
        sorted_by = self.rows.table.columns[position].title if position is not None else ""
        count = f"{listing.total}" if listing.shown == listing.total else f"{listing.shown}/{listing.total}"
        name = cell(f"{self.noun} {count}") if self.caption is None else self.caption
        parts = (
            f"{len(listing.marks)} marked" if listing.marks else "",
            "problems only" if listing.problems_only else "",
            f"/{printable(listing.query)}" if listing.query else "",
            f"by {sorted_by}" if sorted_by else "",
        )
        return ((" ", ""), *name, *((f" · {part}", "") for part in parts if part), (" ", ""))
