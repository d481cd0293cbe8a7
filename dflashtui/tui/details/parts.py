"""Lines that all details are made of. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rich.cells import cell_len, chop_cells

from dflashtui.mask import masked
from dflashtui.text import human_span, printable
from dflashtui.tui.guard import guarded
from dflashtui.tui.styled import EMPTY, Cell, cell, measured, untabbed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime

LABEL_WIDTH = 13
FOLD_NEEDS = 40
"""Below this width a hanging indent would leave no room for the value."""
BLANKS = re.compile(r"(\s+)")


def fact(label: str, value: Cell) -> Cell:
    """`memory       54.0 GiB`."""
    return ((f"{label:<{LABEL_WIDTH}} ", "dim"), *value)


def facts(*pairs: tuple[str, Cell | None]) -> tuple[Cell, ...]:
    """Several; those that are `None` have nothing to say."""
    return tuple(fact(label, value) for label, value in pairs if value is not None)


def folded(lines: Iterable[Cell], width: int) -> tuple[Cell, ...]:
    """Lines of at most `width` cells; what goes on on the next line stands under its value, not under its label."""
    return tuple(part for line in lines for part in _fold(untabbed(guarded(line)), width))


def _fold(line: Cell, width: int) -> Iterator[Cell]:
    if measured(line) <= width:
        yield line
        return
    indent = LABEL_WIDTH + 1 if len(line[0][0]) == LABEL_WIDTH + 1 and width > FOLD_NEEDS else 0
    row: list[tuple[str, str]] = []
    used = 0
    for text, tone in _words(line, width - indent):
        size = cell_len(text)
        if row and used + size > width:
            yield tuple(row)
            row, used = ([(" " * indent, "")] if indent else []), indent
            if text.isspace():
                continue
        row.append((text, tone))
        used += size
    yield tuple(row)


def _words(line: Cell, most: int) -> Iterator[tuple[str, str]]:
    """Words and the blanks between them, a label whole; a word that is longer than a line is cut."""
    for place, (text, tone) in enumerate(line):
        if place == 0 and len(text) == LABEL_WIDTH + 1 <= most:
            yield text, tone
            continue
        for word in BLANKS.split(text):
            for part in chop_cells(word, max(1, most)):
                yield part, tone


def heading(words: str) -> tuple[Cell, ...]:
    """A blank line, then a title."""
    return EMPTY, cell(words, "title")


def moment(at: datetime | None, now: datetime) -> Cell | None:
    """`12:04:31 · 3m20s ago`; the day too when it is not today."""
    if at is None:
        return None
    here = at.astimezone()
    form = "%H:%M:%S" if here.date() == now.astimezone().date() else "%Y-%m-%d %H:%M:%S"
    return ((here.strftime(form), ""), (f" · {human_span((now - at).total_seconds())} ago", "dim"))


def foreign(text: str | None, tone: str = "") -> Cell | None:
    """Text from a host, safe to show; `None` when there is none."""
    return cell(printable(masked(text)), tone) if text else None


def wrapped(text: str, width: int, tone: str = "") -> tuple[Cell, ...]:
    """Text broken into lines of at most `width` cells at blanks; a longer word stays whole, for `folded` to cut."""
    lines: list[str] = []
    line = ""
    for word in printable(masked(text)).split():
        if line and cell_len(line) + 1 + cell_len(word) > width:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}".strip()
    return tuple(cell(part, tone) for part in [*lines, line] if part)
