"""Heavy actions are confirmed by typing a word."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING

from dflashtui.model.action import Weight
from dflashtui.ops.weight import confirmation
from dflashtui.text import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dflashtui.cli.parser import Options
    from dflashtui.fleet.base import Fleet
    from dflashtui.model.action import UnitAction
    from dflashtui.ops.weight import Confirmation


async def is_allowed(actions: Sequence[UnitAction], fleet: Fleet, options: Options) -> bool:
    """Whether these actions may go on: light ones at once, heavy ones after a word was typed."""
    asked = confirmation(actions, {name: fleet.snapshot(name) for name in fleet.names})
    return options.yes or asked.weight is not Weight.HEAVY or await confirmed(asked)


async def confirmed(asked: Confirmation) -> bool:
    """Show the plan and have a word typed. Without a terminal to ask on, the action is refused."""
    plan = [f"{command}   on {', '.join(asked.hosts)}" for command in dict.fromkeys(asked.commands)]
    for line in (*plan, *(f"because: {reason}" for reason in asked.reasons)):
        sys.stderr.write(f"{printable(line)}\n")
    if not sys.stdin.isatty():
        sys.stderr.write("dflashtui: refused: this needs a confirmation; on a terminal, or with --yes\n")
        return False
    sys.stderr.write(f"type {asked.word!r} to go on: ")
    sys.stderr.flush()
    typed: str = await asyncio.to_thread(sys.stdin.readline)
    return typed.strip() == asked.word
