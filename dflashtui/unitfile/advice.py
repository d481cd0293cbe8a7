"""Unit advice: what in a unit file will bite, by rules that systemd's own `verify` does not have.

Facts: systemd 252's parser and manual pages, and how inference engines start, crash and stop. Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflashtui.unitfile import (
    advice_command,
    advice_environment,
    advice_gpu,
    advice_keys,
    advice_restart,
    advice_service,
    advice_syntax,
)
from dflashtui.unitfile.look import Advice, Look

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Rule = Callable[[Look], Iterable[Advice]]

RULES: tuple[Rule, ...] = (
    *advice_syntax.RULES,
    *advice_keys.RULES,
    *advice_command.RULES,
    *advice_environment.RULES,
    *advice_service.RULES,
    *advice_restart.RULES,
    *advice_gpu.RULES,
)
DROP_IN = ".conf"
WORST_FIRST = ("error", "warning", "note")


def advice(text: str, *, name: str | None = None) -> tuple[Advice, ...]:
    """Everything worth saying about a unit, worst first, then by line.

    `text`: one unit file, or what `systemctl cat` prints, with drop-ins; `name`: the full name of the unit or of the
    drop-in, for rules about instances and about what is missing. Never raises.
    """
    look = Look(text, name)
    found = dict.fromkeys(one for rule in RULES for one in rule(look))
    if name is not None and name.endswith(DROP_IN):  # what it does not say, the unit that it belongs to may
        found = {one: None for one in found if one.line is not None}
    return tuple(sorted(found, key=lambda one: (WORST_FIRST.index(one.level), one.file or "", one.line or 0, one.id)))
