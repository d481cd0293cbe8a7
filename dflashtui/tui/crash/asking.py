"""What a person is asked before a remedy is run, in lines. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflashtui.text import printable
from dflashtui.tui.details.parts import heading
from dflashtui.tui.dialogs.confirm import Question
from dflashtui.tui.rows.words import unit_label
from dflashtui.tui.styled import EMPTY, cell

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dflashtui.model.action import UnitAction
    from dflashtui.model.command import HostCommand
    from dflashtui.ops.remedy_value import HostRemedy
    from dflashtui.ops.weight import Confirmation

MOST_DETAILS = 6


def remedy_question(
    asked: Confirmation, command: HostCommand, remedy: HostRemedy, then: Sequence[UnitAction]
) -> Question:
    """The exact commands, in their order, and why."""
    where = f" for {unit_label(command.unit or '')} on {printable(command.host)}"
    steps = [command.command, *(action.command for action in then)]
    numbered = len(steps) > 1
    lines = [
        ((f"{number}  " if numbered else "", "dim"), (printable(step, limit=1000), "strong"))
        for number, step in enumerate(steps, 1)
    ]
    reasons = tuple(cell(f"▲ {printable(reason, limit=300)}", "warn") for reason in asked.reasons)
    details = tuple(cell(printable(detail, limit=300), "dim") for detail in remedy.details[:MOST_DETAILS])
    after = (cell("the second runs only if the first ends well, and its start is watched", "dim"),) if numbered else ()
    return Question(
        title=(("fix and restart" if numbered else "run a remedy", "strong"), (where, "")),
        lines=(
            *lines,
            *after,
            *((*heading(printable(remedy.title, limit=200)), *details) if details else ()),
            *((EMPTY, *reasons) if reasons else ()),
        ),
        verb="fix and restart" if numbered else "run",
        commands="\n".join(steps),
        word=asked.word,
    )
