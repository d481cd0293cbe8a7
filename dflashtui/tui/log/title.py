"""What the border of the log pane says. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflashtui.text import printable
from dflashtui.tui.log.times import Stamp

if TYPE_CHECKING:
    from dflashtui.tui.log.model import LogModel

SUFFIX = ".service"
LONGEST_NAME = 80
LONGEST_NOTE = 120


def title(name: str, model: LogModel, stamp: Stamp, note: str) -> str:
    """`log sglang-a@gpu07 · following · warning+ · 3 matches`; everything that narrows the view is in it."""
    view = model.view
    facts = [f"log {name}" if name else "log", *([_following(model)] if name else [])]
    facts += view.filters.words()
    if model.hidden_count:
        facts.append(f"{_number(model.hidden_count)} hidden")
    if view.query is not None:
        facts.append(f"/{printable(view.query.text, limit=40)} {_matches(view.hit_count)}")
    if stamp is not Stamp.CLOCK:
        facts.append(stamp.value)
    facts += [printable(words, limit=LONGEST_NOTE) for words in (view.trouble, note) if words]
    return " · ".join(facts)


def empty_words(model: LogModel, name: str, note: str) -> str:
    """What stands in an empty pane: what was asked, or what hides everything."""
    if model.hidden_count:
        why = " and ".join(reversed(list(model.filters.words())))
        return f"0 of {_number(model.hidden_count)} lines match {why} – escape clears"
    if not name:
        return "no unit chosen"
    return printable(note, limit=LONGEST_NOTE) or f"no line of {name} so far"


def name_of(host: str, unit: str) -> str:
    """`sglang-a@gpu07`, as it may be shown."""
    return f"{printable(unit, limit=LONGEST_NAME).removesuffix(SUFFIX)}@{printable(host, limit=LONGEST_NAME)}"


def _following(model: LogModel) -> str:
    if model.is_following:
        return "following"
    words = "paused"
    if model.new_count:
        words += f" · {_number(model.new_count)} new"
    if model.new_error_count:
        words += f" · {_number(model.new_error_count)} {'error' if model.new_error_count == 1 else 'errors'}"
    return words


def _matches(count: int) -> str:
    return f"{_number(count)} {'match' if count == 1 else 'matches'}"


def _number(count: int) -> str:
    return f"{count:,}".replace(",", " ")
