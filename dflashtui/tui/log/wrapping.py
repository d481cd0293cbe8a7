"""Lines cut into rows of the screen, by cells. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from rich.cells import cell_len, get_character_cell_size

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dflashtui.tui.log.record import Record


class Row(NamedTuple):
    """A part of a line of a record; `end` `None`: to the end of the line."""

    record: Record
    line: int
    start: int
    end: int | None

    @property
    def is_first(self) -> bool:
        """Whether the record begins here."""
        return self.line == 0 and self.start == self.record.text_from

    @property
    def is_wrapped(self) -> bool:
        """Whether its line takes more rows than one."""
        return self.end is not None


def rows_of(record: Record, width: int | None) -> list[Row]:
    """The rows of a record; `width` `None`: one for each line, however long."""
    if width is None:
        return [Row(record, line, 0 if line else record.text_from, None) for line in range(len(record.texts))]
    return [
        Row(record, line, start, end)
        for line, text in enumerate(record.texts)
        for start, end in _pieces(text, max(1, width), 0 if line else record.text_from)
    ]


def _pieces(text: str, width: int, start: int) -> Iterator[tuple[int, int | None]]:
    if len(text) - start <= width and (text.isascii() or cell_len(text[start:]) <= width):
        yield start, None
    elif text.isascii():
        yield from _narrow_pieces(text, width, start)
    else:
        yield from _wide_pieces(text, width, start)


def _narrow_pieces(text: str, width: int, start: int) -> Iterator[tuple[int, int]]:
    """Cut after a blank where one is near the edge."""
    while len(text) - start > width:
        blank = text.rfind(" ", start + width - width // 3, start + width)
        end = blank + 1 if blank >= 0 else start + width
        yield start, end
        start = end
    yield start, len(text)


def _wide_pieces(text: str, width: int, start: int) -> Iterator[tuple[int, int]]:
    used = 0
    for place, char in enumerate(text[start:], start):
        size = get_character_cell_size(char)
        if used + size > width and place > start:
            yield start, place
            start, used = place, 0
        used += size
    yield start, len(text)


def widest(record: Record) -> int:
    """Cells of its longest line."""
    return max(len(text) if text.isascii() else cell_len(text) for text in record.texts)
