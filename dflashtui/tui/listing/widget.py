"""A list: one line for a row, drawn line by line, only where something changed."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView

from dflashtui.text import printable
from dflashtui.tui.listing.draw import GUTTER, Painter, row_pieces, title_pieces
from dflashtui.tui.listing.model import Listing
from dflashtui.tui.listing.table import Row, Slot, Table, slots
from dflashtui.tui.styled import EMPTY, Cell, cell, cut, measured, toned

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.style import Style
    from textual import events
    from textual.binding import BindingType
    from textual.strip import Strip

    from dflashtui.tui.subject import Subject

DOUBLE = 2
MIN_LINES_FOR_TITLES = 5
"""A lower list that cannot show all its rows has no line of column titles."""


class RowList(ScrollView, can_focus=True):
    """Rows with a cursor. Keys, filter and marks belong to it; what a row means does not."""

    HELP = "Move with the arrows or `j` `k`, go in with `enter`, mark with `space`."
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "row-list--titles",
        "row-list--cursor",
        "row-list--cursor-blurred",
        "row-list--marked",
        "row-list--hover",
    }
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,j", "step(1)", "Down", show=False, id="list.down"),
        Binding("up,k", "step(-1)", "Up", show=False, id="list.up"),
        Binding("home,g", "far(-1)", "First", show=False, id="list.first"),
        Binding("end,G", "far(1)", "Last", show=False, id="list.last"),
        Binding("ctrl+d", "page(0.5)", "Half a page down", show=False, id="list.half_down"),
        Binding("ctrl+u", "page(-0.5)", "Half a page up", show=False, id="list.half_up"),
        Binding("pagedown", "page(1)", "Page down", show=False, id="list.page_down"),
        Binding("pageup", "page(-1)", "Page up", show=False, id="list.page_up"),
        Binding("space", "mark", "Mark", show=False, id="list.mark", tooltip="Mark this row and step down"),
        Binding("V", "mark_range", "Mark to here", show=False, id="list.mark_range"),
        Binding("U", "unmark", "Unmark all", show=False, id="list.unmark"),
        Binding("O", "reverse", "Reverse order", show=False, id="list.reverse"),
    ]

    rows: reactive[tuple[Row, ...]] = reactive((), repaint=False)

    class Moved(Message):
        """The cursor stands on another row, or what is seen changed."""

        def __init__(self, row_list: RowList) -> None:
            super().__init__()
            self.row_list = row_list

        @property
        def control(self) -> RowList:
            """The list."""
            return self.row_list

    class Entered(Message):
        """A row was clicked twice; `enter` is a key of the screen."""

        def __init__(self, row_list: RowList) -> None:
            super().__init__()
            self.row_list = row_list

    def __init__(self, table: Table, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own name
        super().__init__(id=id)
        self.table = table
        self.listing = Listing()
        self.empty_words = ""
        """Why there is no row, safe to print; empty: what the table says."""
        self._painter: Painter | None = None
        self._slots: tuple[Slot, ...] = ()
        self._slots_width = -1
        self._told: tuple[object, ...] = ()
        self._place: int | None = None
        self._drawn: tuple[Row, ...] = ()
        self._widest: dict[int, int] = {}
        self._measured_keys: tuple[Subject, ...] = ()

    @property
    def chosen(self) -> tuple[Subject, ...]:
        """The marked rows, or the one under the cursor."""
        return self.listing.chosen

    @property
    def current(self) -> Subject | None:
        """The row under the cursor."""
        return self.listing.cursor

    def watch_rows(self, rows: tuple[Row, ...]) -> None:
        """New values: draw the lines that differ."""
        self._measure(rows)
        self.listing.show(rows)
        self.settle()

    def settle(self) -> None:
        """Draw what changed since the last time; to be called after a change of the listing."""
        seen, before = self.listing.seen, self._drawn
        self._drawn = seen
        self.virtual_size = Size(self._width, len(seen) + 1)
        if len(seen) != len(before):
            self.refresh()
        else:
            for place, (new, old) in enumerate(zip(seen, before, strict=True)):
                if new != old:
                    self._refresh_row(place)
        if self.listing.position != self._place:  # else a person may have scrolled away from it
            self._keep_cursor_in_view()
        self._tell()

    def _tell(self) -> None:
        """Say that the row or the title is another one, but not each time that some value changes elsewhere."""
        listing = self.listing
        told = (listing.current, listing.shown, listing.total, len(listing.marks), listing.query, listing.problems_only)
        if told != self._told:
            self._told = told
            self.post_message(self.Moved(self))

    def go_to(self, subject: Subject) -> None:
        """Put the cursor on a row, as soon as it is there."""
        self._moving(lambda: self.listing.seek(subject))

    def go_to_first(self) -> None:
        """Put the cursor on the first row."""
        if self.listing.position:
            self.action_far(-1)

    @property
    def _title_lines(self) -> int:
        return 1 if self.size.height >= min(len(self.listing.seen) + 1, MIN_LINES_FOR_TITLES) else 0

    @property
    def _width(self) -> int:
        return self.scrollable_content_region.width

    def _refresh_row(self, place: int) -> None:
        line = place + self._title_lines - self.scroll_offset.y
        if 0 <= line < self.size.height:
            self.refresh(Region(0, line, self.size.width, 1))

    def _keep_cursor_in_view(self) -> None:
        place = self._place = self.listing.position
        if place is None or not self.size.height:
            return
        top, room = self.scroll_offset.y, self.size.height - self._title_lines
        wanted = min(max(top, place - room + 1), place)
        if wanted != top:
            self.scroll_to(y=wanted, animate=False, force=True, immediate=True)

    def _moving(self, move: Callable[[], None]) -> None:
        before = self.listing.position
        move()
        for place in (before, self.listing.position):
            if place is not None:
                self._refresh_row(place)
        self._keep_cursor_in_view()
        self.post_message(self.Moved(self))

    def on_resize(self) -> None:
        """Columns come and go with the width."""
        self.virtual_size = Size(self._width, len(self.listing.seen) + 1)
        self._keep_cursor_in_view()
        self.refresh()

    @property
    def _columns(self) -> tuple[Slot, ...]:
        """Worked out when a line is drawn: only then the width is sure."""
        width = self._width
        if self._slots_width != width:
            self._slots_width = width
            self._slots = slots(self.table.columns, width - GUTTER, self._widest)
        return self._slots

    def _measure(self, rows: tuple[Row, ...]) -> None:
        """How wide names and states are. While rows stay, columns only grow: they must not jump at each refresh."""
        keys = tuple(row.key for row in rows)
        known = self._widest if keys == self._measured_keys else {}
        self._measured_keys = keys
        body = [row for row in rows if not row.heading]
        places = [place for place, column in enumerate(self.table.columns) if column.is_measured]
        widest = {place: max([known.get(place, 0), *(measured(row.cells[place]) for row in body)]) for place in places}
        if widest != self._widest:
            self._widest = widest
            self._slots_width = -1
            self.refresh()

    def notify_style_update(self) -> None:
        """Another theme: other colours."""
        super().notify_style_update()
        self._painter = None

    def render_line(self, y: int) -> Strip:
        """A line of the visible part."""
        if self._title_lines and y == 0:
            style = self.get_component_rich_style("row-list--titles")
            return self._strip(title_pieces(self._columns, self.listing.sort_position, self._arrow), style)
        place = y - self._title_lines + self.scroll_offset.y
        if place < len(self.listing.seen):
            return self._row(self.listing.seen[place])
        return self._strip(self._nothing() if place == 0 else EMPTY, self.rich_style)

    def _row(self, row: Row) -> Strip:
        is_cursor, is_marked = row.key == self.listing.cursor, row.key in self.listing.marks
        here = "›" if self.has_focus else "·"
        gutter = (here if is_cursor else " ") + ("▪" if is_marked else " ")
        style = self.rich_style
        if is_cursor:
            style = self.get_component_rich_style("row-list--cursor" if self.has_focus else "row-list--cursor-blurred")
        elif is_marked:
            style = self.get_component_rich_style("row-list--marked")
        pieces = row_pieces(row, self._columns, gutter, self._width)
        if is_cursor and self.has_focus and self.app.native_ansi_color:
            pieces = toned(pieces, "strong")  # reversed colours would make a patchwork of it
        return self._strip(pieces, style)

    def _strip(self, pieces: Cell, style: Style) -> Strip:
        if self._painter is None:
            self._painter = Painter(self.app.theme_variables)
        return self._painter.strip(cut(pieces, self._width), style, self._width)

    def _nothing(self) -> Cell:
        if self.listing.total and self.listing.query:
            words = f"0 of {self.listing.total} match /{printable(self.listing.query)} – escape clears"
        elif self.listing.total:
            words = f"none of {self.listing.total} {self.table.noun} has a problem – ! shows all"
        else:
            words = self.empty_words or self.table.empty
        return cell(f"  {words}", "dim")

    @property
    def _arrow(self) -> str:
        return "▾" if self.listing.reverse else "▴"

    def on_focus(self) -> None:
        """The cursor shows where keys go."""
        self._moving(lambda: None)

    def on_blur(self) -> None:
        """Keys go elsewhere."""
        self._moving(lambda: None)

    def on_click(self, event: events.Click) -> None:
        """A click moves the cursor, a second one enters."""
        place = event.y - self._title_lines + self.scroll_offset.y
        if not 0 <= place < len(self.listing.seen) or event.y < self._title_lines:
            return
        self._moving(lambda: self.listing.put(place))
        if event.chain == DOUBLE:
            self.post_message(self.Entered(self))

    def action_step(self, by: int) -> None:
        """Up or down."""
        self._moving(lambda: self.listing.step(by))

    def action_far(self, way: int) -> None:
        """To the first or the last row."""
        self._moving(lambda: self.listing.step(way * len(self.listing.seen)))

    def action_page(self, part: float) -> None:
        """By a part of what is visible."""
        room = max(1, self.size.height - self._title_lines)
        self._moving(lambda: self.listing.step(round(part * room) or 1))

    def action_mark(self) -> None:
        """Mark or unmark, and step down."""
        self._moving(self.listing.mark)

    def action_mark_range(self) -> None:
        """Mark from the last mark to here."""
        self.listing.mark_range()
        self.redraw()

    def action_unmark(self) -> None:
        """Take all marks away."""
        self.listing.marks.clear()
        self.redraw()

    def action_reverse(self) -> None:
        """The same order from the other end."""
        self.listing.reverse = not self.listing.reverse
        self.redraw()

    def sort_by(self, position: int | None) -> None:
        """Sort by a column; `None`: the order of the inventory."""
        self.listing.sort_position = position
        self.redraw()

    def narrow(self, query: str) -> None:
        """Show only what matches."""
        self.listing.query = query
        self.redraw()

    def show_problems_only(self, only: bool) -> None:  # noqa: FBT001 - the state is the value
        """Show only rows with a problem, or all."""
        self.listing.problems_only = only
        self.redraw()

    def fold(self, group: str | None) -> None:
        """Close or open a group."""
        self.listing.fold(group)
        self.redraw()

    def redraw(self) -> None:
        """Everything may have moved."""
        self.listing.arrange()
        self.refresh()
        self.settle()
