"""The lines of a log on screen: drawing, scrolling, selecting. What they are is the model's matter."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.segment import Segment
from textual.cache import FIFOCache
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from dflashtui.tui.log.columns import Columns
from dflashtui.tui.log.line_strip import freed_by_itself
from dflashtui.tui.log.paint import STYLE_NAMES, Look, Place, strip
from dflashtui.tui.log.times import Stamp

if TYPE_CHECKING:
    from collections.abc import Hashable
    from datetime import date, datetime, tzinfo

    from textual import events
    from textual.geometry import Region
    from textual.selection import Selection

    from dflashtui.tui.log.model import LogModel
    from dflashtui.tui.log.record import Record
    from dflashtui.tui.log.wrapping import Row

CACHED_STRIPS = 512
SHIFT_CELLS = 16
DOUBLE = 2


class LogLines(ScrollView, can_focus=True, inherit_bindings=False):
    """Draws the rows of a model. The gutter and the time stay when lines are shifted."""

    ALLOW_SELECT = True
    COMPONENT_CLASSES: ClassVar[set[str]] = {f"log--{name}" for name in STYLE_NAMES}
    DEFAULT_CSS = """
    LogLines {
        height: 1fr;
        overflow-x: hidden;
        overflow-y: auto;
        scrollbar-gutter: stable;
        scrollbar-size-vertical: 1;
        & > .log--error { color: $error; }
        & > .log--warning, & > .log--gap { color: $warning; }
        & > .log--notice { text-style: bold; }
        & > .log--manager, & > .log--time, & > .log--gutter, & > .log--debug { color: $secondary; }
        & > .log--count { color: $accent; }
        & > .log--match { background: $warning; color: $background; }
        & > .log--cursor { background: $panel; }
        & > .log--cursor-blurred { background: $surface; }
    }
    """

    class Moved(Message):
        """A person moved: the title may say something else now."""

    class TopReached(Message):
        """There is nothing older here."""

    class Entered(Message):
        """A line was clicked twice."""

    def __init__(self, model: LogModel, zone: tzinfo | None = None) -> None:
        """`zone`: of the clock; `None`: the console's own."""
        super().__init__()
        self.model = model
        self.stamp = Stamp.CLOCK
        self.keeps_colours = True
        self.is_wrapped = False
        """Every line; errors always are, for nobody should have to look for their end."""
        self.empty_words = ""
        self.columns = Columns()
        self.now: datetime | None = None
        """For times ago."""
        self._zone = zone
        self._shift = 0
        self._look: Look | None = None
        self._strips: FIFOCache[Hashable, Strip] = FIFOCache(CACHED_STRIPS)
        self._is_settling = False
        self._is_painting = False
        """Places of letters make every style one of its own, which costs more than all the rest of painting."""
        self._first_row = 0
        """Number of the first row: rows keep their numbers when older ones come or go, so that a selection stays."""

    @property
    def look(self) -> Look:
        """How rows are drawn now."""
        if self._look is None:
            names = {name: self.get_component_rich_style(f"log--{name}", partial=True) for name in STYLE_NAMES}
            self._look = Look(
                base=self.rich_style,
                styles=names,
                width=self._width,
                stamp=self.stamp,
                zone=self._zone,
                starts=self.model.buffer.starts,
                query=self.model.view.query,
                keeps_colours=self.keeps_colours,
                scroll_x=self._shift,
                columns=self.columns,
                now=self.now,
            )
        return self._look

    def renew(self) -> None:
        """The way of drawing changed: colours, times, query, width."""
        self._look = None
        self._strips.clear()
        if self.is_wrapped:
            self._shift = 0
        if self._width:
            self.model.wrap(max(1, self._width - self.look.text_start), everything=self.is_wrapped)
        self.settle()

    def redraw(self) -> None:
        """Only the way of drawing changed: every row has its place still."""
        self._look = None
        self._strips.clear()
        self.refresh()

    def settle(self, *, rows_added_above: int = 0) -> None:
        """The model changed: stay at the end, or where a person reads."""
        self._is_settling = True
        try:
            self._tell_size(Size(self._width, len(self.model.view.rows)))
            if self.model.is_following:
                wanted = len(self.model.view.rows)
            else:
                wanted = self.scroll_offset.y + rows_added_above - self.model.rows_dropped
            self._first_row += self.model.rows_dropped - rows_added_above
            self.model.rows_dropped = 0
            self.scroll_to(y=wanted, animate=False, force=True, immediate=True)
        finally:
            self._is_settling = False
        self.refresh()

    def _tell_size(self, size: Size) -> None:
        """How many rows there are changes nobody's place: the whole screen need not be laid out anew for each line."""
        if size != self.virtual_size:
            self.set_reactive(LogLines.virtual_size, size)
            self._scroll_update(size)

    def show_cursor(self) -> None:
        """Bring the cursor into view, with a line around it where there is room."""
        self.settle()
        record = self.model.cursor
        if record is None or self.model.is_following:
            return
        first, room = self.model.view.row_of(record), self.size.height
        margin = 1 if room > record.row_count + DOUBLE else 0
        top = self.scroll_offset.y
        wanted = min(max(top, first + record.row_count - room + margin), max(0, first - margin))
        self._is_settling = True
        try:
            self.scroll_to(y=wanted, animate=False, force=True, immediate=True)
        finally:
            self._is_settling = False
        self.refresh()

    def shift(self, way: int) -> None:
        """Look further right (1) or left (-1) into long lines."""
        room = self._width - self.look.text_start
        most = max(0, self.model.view.widest - room + 1)
        self._shift = 0 if self.is_wrapped else max(0, min(most, self._shift + way * SHIFT_CELLS))
        self.renew()

    @property
    def _width(self) -> int:
        return self.scrollable_content_region.width

    def notify_style_update(self) -> None:
        """Another theme: other colours."""
        super().notify_style_update()
        self._look = None
        self._strips.clear()

    def on_resize(self) -> None:
        """Another width: other rows; the line under the cursor stays in view."""
        self.renew()
        self.show_cursor()

    def on_focus(self) -> None:
        """The cursor shows where keys go."""
        self.refresh()

    def on_blur(self) -> None:
        """Keys go elsewhere."""
        self.refresh()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """A wheel or a scroll bar moved: the cursor comes along, and following ends."""
        super().watch_scroll_y(old_value, new_value)
        if self._is_settling or round(old_value) == round(new_value):
            return
        if round(new_value) < self.max_scroll_y or not self.model.is_following:
            self._take_cursor_along()
        if round(new_value) == 0:
            self.post_message(self.TopReached())
        self.post_message(self.Moved())

    def _take_cursor_along(self) -> None:
        rows, top = self.model.view.rows, self.scroll_offset.y
        here = self.model.cursor
        if not rows or here is None:
            return
        bottom = min(top + self.size.height, len(rows)) - 1
        row = self.model.view.row_of(here)
        self.model.put(rows[max(0, min(max(row, top), bottom))].record)

    def on_click(self, event: events.Click) -> None:
        """A click moves the cursor, a second one opens the entry."""
        place = event.y + self.scroll_offset.y
        if 0 <= place < len(self.model.view.rows) and self.text_selection is None:
            self.model.put(self.model.view.rows[place].record)
            self.refresh()
            self.post_message(self.Moved())
            if event.chain == DOUBLE:
                self.post_message(self.Entered())

    def render_lines(self, crop: Region) -> list[Strip]:
        """The visible part, to be painted."""
        self._is_painting = True
        try:
            return [freed_by_itself(strip) for strip in super().render_lines(crop)]
        finally:
            self._is_painting = False

    def render_line(self, y: int) -> Strip:
        """A row of the visible part; with the places of its letters, when Textual asks what the mouse is on."""
        place = y + self.scroll_offset.y
        rows = self.model.view.rows
        if place < len(rows):
            number = place + self._first_row
            drawn = self._selected(self._row(rows[place]), number)
            return drawn if self._is_painting else drawn.apply_offsets(0, number)
        if y == 0 and not rows:
            return self._words()
        return Strip.blank(self._width, self.rich_style)

    def _row(self, row: Row) -> Strip:
        record = row.record
        place = Place(
            record is self.model.cursor, self.has_focus, self._before(record), self._today(), self._is_selected(record)
        )
        key = (record.seq, row[1:], record.count, record.is_marked, record.is_folded, place)
        drawn = self._strips.get(key)
        if drawn is None:
            drawn = self._strips[key] = strip(row, self.look, place)
        return drawn

    def _is_selected(self, record: Record) -> bool:
        anchor, here = self.model.anchor, self.model.cursor
        if anchor is None or here is None:
            return False
        return min(anchor.seq, here.seq) <= record.seq <= max(anchor.seq, here.seq)

    @property
    def seen(self) -> list[Record]:
        """The records that are in view, oldest first."""
        rows, top = self.model.view.rows, self.scroll_offset.y
        return list(dict.fromkeys(row.record for row in rows[top : top + self.size.height]))

    def _before(self, record: Record) -> datetime | None:
        if self.stamp is not Stamp.GAP:
            return None
        place = self.model.view.place(record.seq)
        return self.model.view.records[place - 1].shown_at if place else None

    def _today(self) -> date:
        """The day of the newest line: times of other days say which."""
        records = self.model.view.records
        return records[-1].shown_at.astimezone(self._zone).date()

    def _words(self) -> Strip:
        base = self.rich_style
        text = Strip([Segment(f"  {self.empty_words}", self.look.styles["time"])])
        return text.adjust_cell_length(self._width).apply_style(base)

    def _selected(self, drawn: Strip, number: int) -> Strip:
        """With what the mouse has selected."""
        selection = self.text_selection
        span = selection.get_span(number) if selection else None
        if span is None:
            return drawn
        start, end = span
        width = drawn.cell_length
        end = width if end < 0 else min(end, width)
        before, chosen, after = (drawn.crop(*part) for part in ((0, start), (start, end), (end, width)))
        style = self.screen.get_component_rich_style("screen--selection")
        return Strip.join([before, Strip(Segment.apply_style(chosen, post_style=style)), after])

    def selection_updated(self, selection: Selection | None) -> None:  # noqa: ARG002 - Textual's interface
        """Draw it."""
        self.refresh()

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """The selected part, as it is on screen."""
        rows = self.model.view.rows
        first = selection.start.y - self._first_row if selection.start else 0
        last = selection.end.y - self._first_row if selection.end else len(rows) - 1
        chosen = range(max(0, first), min(last, len(rows) - 1) + 1)
        if not chosen:
            return None
        texts = [self._row(rows[place]).text for place in chosen]
        if selection.end:
            texts[-1] = texts[-1][: selection.end.x]
        if selection.start:
            texts[0] = texts[0][selection.start.x :]
        return "\n".join(text.rstrip() for text in texts), "\n"
