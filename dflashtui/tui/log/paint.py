"""Rows as strips for the screen. Pure: styles come in, nothing is asked of a widget."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from dflashtui.model.journal import Priority
from dflashtui.tui.log.columns import Columns
from dflashtui.tui.log.times import WIDTHS, Stamp, ago, clock, gap, since_start

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import date, datetime, tzinfo

    from dflashtui.tui.log.pattern import Pattern
    from dflashtui.tui.log.record import Record
    from dflashtui.tui.log.wrapping import Row

CURSOR = "\N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK}"
GUTTER = 3
"""Cells at the left that belong to this program alone: cursor, mark, kind of line. No text of a host gets there."""
STYLE_NAMES = (
    "error", "warning", "notice", "debug", "manager", "time", "gap", "match", "cursor", "cursor-blurred", "gutter",
    "count",
)  # fmt: skip


@dataclass(frozen=True)
class Look:
    """All that decides how a row is drawn, beside the row itself."""

    base: Style
    styles: Mapping[str, Style]
    """By the names of `STYLE_NAMES`."""
    width: int
    stamp: Stamp = Stamp.CLOCK
    zone: tzinfo | None = None
    starts: Mapping[str, datetime] | None = None
    query: Pattern | None = None
    keeps_colours: bool = True
    scroll_x: int = 0
    columns: Columns = field(default_factory=Columns)
    now: datetime | None = None
    """For times ago."""

    @property
    def text_start(self) -> int:
        """Cells before the text."""
        return GUTTER + WIDTHS[self.stamp] + self.columns.width


@dataclass(frozen=True)
class Place:
    """Where a row stands."""

    is_cursor: bool
    has_focus: bool
    before: datetime | None
    """Time of the visible record before it."""
    today: date
    """The day of the newest record, in the zone of the clock."""
    is_selected: bool = False


def strip(row: Row, look: Look, place: Place) -> Strip:
    """One row, exactly as wide as the widget."""
    record = row.record
    marked = place.is_cursor or place.is_selected
    base = look.base + look.styles[_cursor_style(place)] if marked else look.base
    name = style_name(record)
    style = base + look.styles[name] if name else base
    head = [
        Segment(_gutter(row, place), base + look.styles["gutter"] + style),
        Segment(_time_cell(row, look, place), base + look.styles["time"]),
        *_columns(row, look, base),
    ]
    body = _body(row, look, base, style)
    return Strip([*head, *body], look.text_start + _cells(body)).adjust_cell_length(look.width, base)


def _columns(row: Row, look: Look, base: Style) -> list[Segment]:
    columns, record = look.columns, row.record
    cells: list[Segment] = []
    if columns.source:
        name = columns.source_cell(record) if row.is_first else " " * columns.source
        style = columns.styles.get(record.source.host) if record.source else None
        cells.append(Segment(name, base + Style.parse(style) if style else base))
    if columns.process:
        name = columns.process_cell(record) if row.is_first else " " * columns.process
        cells.append(Segment(name, base + look.styles["count"]))
    return cells


def _cells(segments: list[Segment]) -> int:
    return sum(segment.cell_length for segment in segments)


def _cursor_style(place: Place) -> str:
    return "cursor" if place.has_focus and place.is_cursor else "cursor-blurred"


def _gutter(row: Row, place: Place) -> str:
    record = row.record
    cursor = CURSOR if place.is_cursor and row.is_first else " "
    mark = "▪" if record.is_marked and row.is_first else " "
    return cursor + mark + _sign(row)


def _sign(row: Row) -> str:
    """What kind of line it is, without colour."""
    record = row.record
    if record.is_ours:
        return "━"
    if record.is_in_block or not row.is_first:
        return "│" if record.is_error or record.level is Priority.WARNING else " "
    if record.is_error:
        return "×"
    if record.level is Priority.WARNING:
        return "▲"
    return "▸" if record.entry is not None and record.entry.from_manager else " "


def style_name(record: Record) -> str | None:
    """The style of a record's text; `None`: as the pane's."""
    if record.is_ours:
        return "gap"
    if record.is_error:
        return "error"
    if record.level is Priority.WARNING:
        return "warning"
    if record.level is Priority.DEBUG:
        return "debug"
    if record.entry is not None and record.entry.from_manager:
        return "manager"
    return "notice" if record.level is Priority.NOTICE else None


def _time_cell(row: Row, look: Look, place: Place) -> str:
    width = WIDTHS[look.stamp]
    return f"{_time(row, look, place):>{width - 1}} " if width else ""


def _time(row: Row, look: Look, place: Place) -> str:
    record = row.record
    if not row.is_first:
        return ""
    match look.stamp:
        case Stamp.CLOCK:
            return clock(record.shown_at, place.today, look.zone)
        case Stamp.SINCE_START:
            entry = record.entry
            start = (look.starts or {}).get(entry.invocation_id or "") if entry else None
            return "" if record.is_ours else since_start(record.shown_at, start)
        case Stamp.GAP:
            return gap(record.shown_at, place.before)
        case Stamp.AGO:
            return ago(record.shown_at, look.now) if look.now else ""
        case Stamp.OFF:
            return ""


def _body(row: Row, look: Look, base: Style, style: Style) -> list[Segment]:
    """The part of the text that is in view; `…` where more follows at the right."""
    room = max(0, look.width - look.text_start)
    left = 0 if row.is_wrapped else look.scroll_x
    text = row.record.texts[row.line]
    start, end = row.start, len(text) if row.end is None else row.end
    count = _count(row, look, base)
    if text.isascii():  # one cell for each character: only what is in view is made
        seen = min(end, start + left + room + 1)
        shown = [*_segments(row, look, style, (start + left, seen)), *(count if seen == end else [])]
    else:
        whole = Strip([*_segments(row, look, style, (start, end)), *count])
        shown = list(whole.crop(left, left + room + 1))
    if _cells(shown) <= room:
        return shown
    return [*Strip(shown).crop(0, max(0, room - 1)), Segment("…"[:room], base + look.styles["time"])]


def _segments(row: Row, look: Look, style: Style, part: tuple[int, int]) -> list[Segment]:
    """A part of the text of a row in pieces of one style each."""
    start, end = part
    if start >= end:
        return []
    text = row.record.texts[row.line]
    layers = _layers(row, look)
    if not layers:
        return [Segment(text[start:end], style)]
    cuts = sorted({start, end, *(place for layer in layers for place in layer[:2] if start < place < end)})
    return [
        Segment(text[left:right], sum((layer for first, last, layer in layers if first <= left < last), style))
        for left, right in pairwise(cuts)
    ]


def _layers(row: Row, look: Look) -> list[tuple[int, int, Style]]:
    """Colours of the service, then matches above them."""
    record = row.record
    layers: list[tuple[int, int, Style]] = []
    if look.keeps_colours and record.spans:
        layers += [(span.start, span.end, Style.parse(span.style)) for span in record.spans[row.line]]
    if look.query is not None and record.is_hit:
        places = look.query.places(record.texts[row.line])
        layers += [(start, end, look.styles["match"]) for start, end in places]
    return layers


def _count(row: Row, look: Look, base: Style) -> list[Segment]:
    """How many equal lines, states of a bar, or lines of a closed block this one stands for."""
    record = row.record
    is_last = row.line == len(record.texts) - 1 and row.end in {None, len(record.texts[-1])}
    if not is_last or record.item is None:
        return []
    words = _folded(record) if record.is_folded and record.block else ""
    if record.count > 1:
        words += f" ({record.count} states)" if record.progress else f" × {record.count}"
    return [Segment(words, base + look.styles["count"])] if words else []


def _folded(record: Record) -> str:
    """Of a closed block: how much is not seen, and how it ends, for that is its exception."""
    count, last = len(record.block), record.block[-1]
    return f" … {count} {'line' if count == 1 else 'lines'} … {last.texts[0][last.own_prefix.end :].strip()}"
