"""How heavy a remedy is, and what a person confirms before it is run. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflashtui.model.action import Weight
from dflashtui.ops.weight import Confirmation, confirmation

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dflashtui.model.action import UnitAction
    from dflashtui.model.command import HostCommand
    from dflashtui.model.host import HostSnapshot
    from dflashtui.ops.remedy_value import HostRemedy


def remedy_confirmation(
    command: HostCommand,
    remedy: HostRemedy,
    then: Sequence[UnitAction],
    snapshots: Mapping[str, HostSnapshot],
) -> Confirmation:
    """Normal; heavy for a remedy that is, and in a protected group. `then`: the actions that follow it."""
    host = snapshots.get(command.host)
    protected = (f"group {host.group} is protected",) if host and host.protected else ()
    after = confirmation(then, snapshots).reasons if then else ()
    reasons = tuple(dict.fromkeys((*remedy.reasons, *protected, *after)))
    word = (host.group if host and host.protected else None) or command.host
    return Confirmation(
        weight=Weight.HEAVY if reasons else Weight.NORMAL,
        commands=(command.command, *(action.command for action in then)),
        units=(command.unit,) if command.unit else (),
        hosts=(command.host,),
        reasons=reasons,
        word=word if reasons else None,
    )
