"""A sync in lines: its plan, its question, its end. Pure."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from dflashtui.mask import masked
from dflashtui.ops.sync_report import lines as plan_lines
from dflashtui.text import printable
from dflashtui.tui.details.parts import heading
from dflashtui.tui.dialogs.confirm import Question
from dflashtui.tui.styled import Cell, cell

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from dflashtui.model.command import CommandResult, HostCommand
    from dflashtui.model.sync import SyncPlan
    from dflashtui.ops.weight import Confirmation

LINE_LIMIT = 1000
TONES = {"install": "strong", "copy": "strong", "refused": "bad", "same": "dim"}


def plan_page(plan: SyncPlan) -> tuple[Cell, ...]:
    """A line for each package, and why it goes this way."""
    head, *rest = plan_lines(plan)
    ways = (TONES[step.way] for step in plan.steps)
    return (cell(_safe(head), "title"), *(cell(_safe(line), tone) for line, tone in zip(rest, ways, strict=True)))


def sync_question(asked: Confirmation, plan: SyncPlan, commands: Sequence[HostCommand]) -> Question:
    """The plan, then what is run for it, and where."""
    typed = shlex.join(("dflashtui", "sync", plan.source, plan.target, *(step.package for step in plan.steps)))
    where = f" on {printable(plan.target)} like {printable(plan.source)}"
    return Question(
        title=(("make packages", "strong"), (where, "")),
        lines=(*plan_page(plan), *_commands(commands), *_reasons(asked)),
        verb="sync",
        commands=typed,
        word=asked.word,
    )


def undo_question(asked: Confirmation, commands: Sequence[HostCommand]) -> Question:
    """What comes back, and what is run for it."""
    (host,) = asked.hosts
    return Question(
        title=(("put back packages", "strong"), (f" on {printable(host)}", "")),
        lines=(*(cell(_safe(one), "strong") for one in asked.commands), *_commands(commands), *_reasons(asked)),
        verb="put back",
        commands=shlex.join(("dflashtui", "sync", host, "--undo")),
        word=asked.word,
    )


def _commands(commands: Sequence[HostCommand]) -> tuple[Cell, ...]:
    hosts = ", ".join(dict.fromkeys(printable(one.host) for one in commands))
    shown: Iterable[Cell] = ((("$ ", "dim"), (_safe(one.command), "accent")) for one in commands)
    return (*heading(f"runs on {hosts}, one after the other; the first failure stops the rest"), *shown)


def _reasons(asked: Confirmation) -> tuple[Cell, ...]:
    return ((), *(cell(f"▲ {_safe(reason)}", "warn") for reason in asked.reasons))


def ending(done: Sequence[CommandResult], count: int) -> str:
    """What was done of it."""
    good = sum(bool(result.ok) for result in done)
    if good == count:
        return "all done; what was replaced is kept: u puts it back"
    left = count - len(done)
    return f"{good} of {count} done{f', {left} not run' if left else ''}; the same sync goes on where this one ended"


def _safe(text: str) -> str:
    """A tab would move the cursor to a column that nobody counted."""
    return printable(masked(text), limit=LINE_LIMIT).replace("\t", " ")
