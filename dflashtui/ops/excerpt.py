"""The part of a log that is worth a look: around the cause, and the last lines. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflashtui.model.failed_run import LogLine
from dflashtui.model.journal import JournalEntry
from dflashtui.text import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from dflashtui.model.finding import Cause
    from dflashtui.model.journal import JournalItem

BEFORE, AFTER, LAST = 36, 6, 14
"""Lines shown before the cause, after it, and at the end of the log."""
HEADER = "Traceback (most recent call last)"
HEADER_WITHIN = 80
MESSAGE_CHARACTERS = 160
BEGIN_CHARACTERS = 40


def lines_of(items: Iterable[JournalItem]) -> list[LogLine]:
    """Every line of the entries; an entry may hold several."""
    return [line for item in items for line in _lines(item)]


def _lines(item: JournalItem) -> Iterable[LogLine]:
    if not isinstance(item, JournalEntry):
        yield LogLine(text=item.text, mark="gap", at=item.at)
        return
    for text in item.message.split("\n"):
        yield LogLine(text=text.rpartition("\r")[2] or text, mark="manager" if item.from_manager else "", at=item.at)


def excerpt(lines: Sequence[LogLine], cause: Cause | None) -> tuple[LogLine, ...]:
    """The lines around the cause, with it marked, and the last ones; a gap where lines were left out."""
    place = _place(lines, cause) if cause else None
    first = len(lines) if place is None else _first(lines, place)
    shown = set(range(max(0, len(lines) - LAST), len(lines)))
    if place is not None:
        shown |= set(range(max(0, min(first, place - BEFORE // 2), place - BEFORE), min(len(lines), place + 1 + AFTER)))
    parts: list[LogLine] = []
    before = -1
    for at in sorted(shown):
        if at > before + 1:
            parts.append(LogLine(text=f"{at - before - 1} lines not shown", mark="gap"))
        parts.append(_marked(lines[at], at, first, place))
        before = at
    return tuple(parts)


def _marked(line: LogLine, at: int, first: int, place: int | None) -> LogLine:
    if place is None or not first <= at <= place:
        return line
    return line.model_copy(update={"mark": "cause" if at == place else "trace"})


def _place(lines: Sequence[LogLine], cause: Cause) -> int | None:
    """The line that tells the cause: with the exception's name and its message, else with the message.

    The message was cleaned of control sequences when it was read, the lines were not.
    """
    name = (cause.exception or "").rpartition(".")[2]
    message = printable(cause.message.strip(), limit=MESSAGE_CHARACTERS).rstrip("…")
    begin = message[:BEGIN_CHARACTERS]
    texts = [printable(line.text) for line in lines]
    told = [at for at, text in enumerate(texts) if message and message in text]
    begun = [at for at, text in enumerate(texts) if begin and name and begin in text and name in text]
    named = [at for at in told if name and name in texts[at]]
    alone = [at for at, text in enumerate(texts) if name and not message and text.strip().endswith(name)]
    return next(iter((*named, *begun, *told, *alone)), None)


def _first(lines: Sequence[LogLine], place: int) -> int:
    """Where the traceback above the cause begins; the cause itself if there is none."""
    for at in range(place, max(-1, place - HEADER_WITHIN), -1):
        if HEADER in lines[at].text:
            return at
    return place
