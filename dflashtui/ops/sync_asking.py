"""What a person confirms before packages are exchanged, and before they are put back. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflashtui.model.action import Weight
from dflashtui.ops.weight import Confirmation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dflashtui.model.host import HostSnapshot
    from dflashtui.model.sync import SyncPlan
    from dflashtui.ops.sync_sides import Side


def sync_confirmation(plan: SyncPlan, here: Side, snapshot: HostSnapshot) -> Confirmation:
    """Heavy: running services may import what is replaced. `snapshot`: of the host that changes."""
    steps = (*plan.of("install"), *plan.of("copy"))
    prefix = here.environment.interpreter.prefix
    return Confirmation(
        weight=Weight.HEAVY,
        commands=tuple(f"{step.way} {step.package} {step.there or ''}".strip() for step in steps),
        units=(),
        hosts=(plan.target,),
        reasons=(*_guarded(snapshot), f"{len(steps)} packages of {prefix} are replaced; what is replaced is kept"),
        word=_word(snapshot),
    )


def undo_confirmation(packages: Sequence[str], here: Side, snapshot: HostSnapshot) -> Confirmation:
    """As heavy as what it takes back."""
    return Confirmation(
        weight=Weight.HEAVY,
        commands=tuple(f"put back {package}" for package in packages),
        units=(),
        hosts=(here.host.name,),
        reasons=(*_guarded(snapshot), f"packages of {here.environment.interpreter.prefix} are replaced"),
        word=_word(snapshot),
    )


def _guarded(snapshot: HostSnapshot) -> tuple[str, ...]:
    return (f"group {snapshot.group} is protected",) if snapshot.protected else ()


def _word(snapshot: HostSnapshot) -> str:
    """The protected group's name, else the host's."""
    return (snapshot.protected and snapshot.group) or snapshot.name
