"""Lines that all details are made of. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflashtui.text import human_span, printable
from dflashtui.tui.styled import EMPTY, Cell, cell

if TYPE_CHECKING:
    from datetime import datetime

LABEL_WIDTH = 13


def fact(label: str, value: Cell) -> Cell:
    """`memory       54.0 GiB`."""
    return ((f"{label:<{LABEL_WIDTH}} ", "dim"), *value)


def facts(*pairs: tuple[str, Cell | None]) -> tuple[Cell, ...]:
    """Several; those that are `None` have nothing to say."""
    return tuple(fact(label, value) for label, value in pairs if value is not None)


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
    return cell(printable(text), tone) if text else None


def wrapped(text: str, width: int, tone: str = "") -> tuple[Cell, ...]:
    """Text broken into lines of at most `width` characters, at blanks where there are some."""
    lines: list[str] = []
    line = ""
    for word in printable(text).split():
        if line and len(line) + 1 + len(word) > width:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}".strip()
    return tuple(cell(part, tone) for part in [*lines, line] if part)
