"""Problems and events as rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflashtui.text import printable
from dflashtui.tui.listing.table import Row
from dflashtui.tui.rows.words import unit_label
from dflashtui.tui.styled import Cell, cell
from dflashtui.tui.subject import Kind, Subject

if TYPE_CHECKING:
    from dflashtui.model.event import Event
    from dflashtui.tui.picture import Problem

PROBLEM_GLYPHS = {"bad": "×", "warn": "▲", "stale": "⊘"}
EVENT_GLYPHS = {"ok": "●", "busy": "◐", "warn": "▲", "bad": "×"}


def problem_rows(found: tuple[Problem, ...]) -> tuple[Row, ...]:
    """What needs a person; a row is the unit, GPU or host itself, so that `enter` goes there."""
    by_subject: dict[Subject, list[Problem]] = {}
    for problem in found:
        by_subject.setdefault(problem.subject, []).append(problem)
    return tuple(_problem_row(subject, problems) for subject, problems in by_subject.items())


def _problem_row(subject: Subject, found: list[Problem]) -> Row:
    worst = found[0]
    words = " · ".join(problem.words for problem in found)
    shown = (
        cell(PROBLEM_GLYPHS[worst.role], worst.role),
        cell(printable(subject.host)),
        what_of(subject),
        cell(words, worst.role if worst.role == "bad" else ""),
    )
    text = f"{subject.host} {subject.name} {words}".lower()
    return Row(subject, shown, (None, subject.host, subject.name, words), text=text, problem=True)


def what_of(subject: Subject) -> Cell:
    """A unit, a GPU, or the host itself."""
    match subject.kind:
        case Kind.UNIT:
            return cell(unit_label(subject.name), "strong")
        case Kind.GPU:
            return cell(f"GPU {subject.name}", "strong")
        case _:
            return cell("host", "dim")


def event_rows(events: tuple[Event, ...], first: int) -> tuple[Row, ...]:
    """Newest first. `first`: the number of the oldest event, so that a row keeps its identity when old ones go."""
    numbered = [_event_row(event, first + place) for place, event in enumerate(events)]
    return tuple(reversed(numbered))


def _event_row(event: Event, serial: int) -> Row:
    role = event.severity.value
    host, unit = printable(event.host or ""), unit_label(event.unit or "")
    message = printable(event.message)
    shown = (
        cell(EVENT_GLYPHS[role], role),
        cell(event.at.astimezone().strftime("%H:%M:%S"), "dim"),
        cell(host),
        cell(unit or event.kind.value, "strong" if unit else "dim"),
        cell(message, role if role == "bad" else ""),
    )
    values = (None, float(serial), host, unit, message)
    text = f"{host} {event.unit or ''} {event.kind.value} {message}".lower()
    return Row(
        Subject(Kind.EVENT, event.host or "", str(serial)), shown, values, text=text, problem=role in {"bad", "warn"}
    )
