"""Findings of a preflight in lines. Pure."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, NamedTuple

from dflashtui.mask import masked
from dflashtui.ops.preflight_report import VERDICTS
from dflashtui.text import printable
from dflashtui.tui.details.parts import heading
from dflashtui.tui.dialogs.confirm import Question
from dflashtui.tui.rows.words import unit_label
from dflashtui.tui.styled import EMPTY, Cell, cell, plain

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from dflashtui.model.command import HostCommand
    from dflashtui.model.preflight import Preflight, PreflightFinding
    from dflashtui.ops.weight import Confirmation

LINE_LIMIT = 1000
MARKS = {
    "ok": ("●", "ok"),
    "fatal": ("×", "bad"),
    "unknown": ("◌", "warn"),
    "warning": ("▲", "warn"),
    "note": ("·", "dim"),
}
"""By level, and by verdict."""
COUNTED = ("fatal", "unknown", "warning", "note")
NOTHING_CHOSEN = (cell("no finding: nothing shows that would keep it from starting", "dim"),)


class Place(NamedTuple):
    """One unit on one host."""

    host: str
    unit: str


class Look(NamedTuple):
    """How the look at one place stands. What was found before stays until it is looked at anew."""

    found: Preflight | None = None
    failure: str | None = None
    """Why it could not be looked at."""
    is_looking: bool = True


class Entry(NamedTuple):
    """A line of the list: a finding, or, without one, the head of a place."""

    line: Cell
    finding: PreflightFinding | None = None


def entries(looks: Mapping[Place, Look]) -> tuple[Entry, ...]:
    """Place after place: its head, then its findings, worst first."""
    return tuple(entry for place, look in looks.items() for entry in _of_place(place, look))


def _of_place(place: Place, look: Look) -> Iterator[Entry]:
    yield Entry(head_line(place, look))
    for finding in look.found.findings if look.found else ():
        yield Entry(finding_line(finding), finding)


def head_line(place: Place, look: Look) -> Cell:
    """`× sglang-a on gpu-a  would fail: 2 fatal, 1 warning  (1.2 s)`."""
    name: Cell = ((unit_label(place.unit), "title"), (f" on {printable(place.host)}  ", "dim"))
    if look.failure is not None:
        return (("⊘ ", "stale"), *name, (_safe(look.failure), "warn"))
    if look.found is None:
        return (("◐ ", "busy"), *name, ("looking …" if look.is_looking else "not looked at", "busy"))
    glyph, tone = MARKS[look.found.verdict]
    again = (
        (("  looking again …", "busy"),) if look.is_looking else ((f"  ({look.found.elapsed_seconds:.1f} s)", "dim"),)
    )
    return ((f"{glyph} ", tone), *name, (verdict_words(look.found), tone), *again)


def verdict_words(found: Preflight) -> str:
    """`would fail: 2 fatal, 1 warning`."""
    counts = {level: sum(one.level == level for one in found.findings) for level in COUNTED}
    told = ", ".join(f"{count} {level}" for level, count in counts.items() if count)
    return f"{VERDICTS[found.verdict]}{f': {told}' if told else ''}"


def finding_line(finding: PreflightFinding) -> Cell:
    """One finding in the list; `$` where one command cures it."""
    glyph, tone = MARKS[finding.level]
    cure = ("$ " if finding.command else "  ", "accent")
    return ((f"  {glyph} ", tone), cure, (_safe(finding.message), "dim" if finding.level == "note" else ""))


def finding_page(finding: PreflightFinding, *, can_fix: bool) -> tuple[Cell, ...]:
    """Everything about one finding: what is wrong, what was seen, what to do."""
    glyph, tone = MARKS[finding.level]
    lines: list[Cell] = [((f"{glyph} {finding.level}", tone), (f" · {printable(finding.check)}", "dim"))]
    lines += [cell(_safe(finding.message), "strong")]
    lines += [cell(_safe(line), "dim") for line in finding.evidence]
    if finding.remedy or finding.command:
        lines += heading("what to do")
    if finding.remedy:
        lines.append(cell(_safe(finding.remedy)))
    if finding.command:
        key = (("  f runs it", "dim"),) if can_fix else ()
        lines.append((("$ ", "dim"), (_command(finding.command), "accent"), *key))
    return tuple(lines)


def copied(looks: Mapping[Place, Look]) -> str:
    """All of it as text."""
    lines: list[Cell] = []
    for entry in entries(looks):
        if entry.finding is None:
            lines += [EMPTY] * bool(lines) + [entry.line]
        else:
            head, *more = finding_page(entry.finding, can_fix=False)
            lines += [head, *((("    ", ""), *line) if line else EMPTY for line in more)]
    return "\n".join(map(plain, lines))


def fix_question(asked: Confirmation, plan: Sequence[HostCommand]) -> Question:
    """The whole plan: every command in its order, and where it runs."""
    is_one = len(plan) == 1
    shown = [(f"{number}  " if not is_one else "", command) for number, command in enumerate(plan, 1)]
    reasons = tuple(cell(f"▲ {_safe(reason)}", "warn") for reason in asked.reasons)
    after = cell("one after the other; the first failure stops the rest", "dim")
    where = ", ".join(map(printable, asked.hosts))
    verb = "run" if is_one else "run all"
    return Question(
        title=(("run a remedy" if is_one else f"run {len(plan)} remedies", "strong"), (f" on {where}", "")),
        lines=(
            *(_planned(number, command, is_many=len(asked.hosts) > 1) for number, command in shown),
            *(() if is_one else (EMPTY, after)),
            *((EMPTY, *reasons) if reasons else ()),
        ),
        verb=verb,
        commands="\n".join(command.command for command in plan),
        word=asked.word,
    )


def _planned(number: str, command: HostCommand, *, is_many: bool) -> Cell:
    where = f"  on {printable(command.host)}" if is_many else ""
    return ((number, "dim"), (_safe(command.command), "strong"), (where, "dim"))


def _command(argv: Sequence[str]) -> str:
    return _safe(shlex.join(argv))


def _safe(text: str) -> str:
    """A tab would move the cursor to a column that nobody counted."""
    return printable(masked(text), limit=LINE_LIMIT).replace("\t", " ")
