"""What a preflight found, as one plan of commands, and what a person confirms before it runs. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflashtui.model.command import HostCommand
from dflashtui.ops.weight import change_confirmation

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from dflashtui.model.host import HostSnapshot
    from dflashtui.model.preflight import Preflight
    from dflashtui.ops.weight import Confirmation


def fixes(found: Iterable[Preflight]) -> tuple[HostCommand, ...]:
    """Every remedy that is a command, the worst finding's first; one that several units of a host need stands once."""
    plan: dict[tuple[str, tuple[str, ...]], HostCommand] = {}
    for one in found:
        for argv in one.commands:
            command = HostCommand(host=one.host, unit=one.unit, argv=argv, title=f"preflight of {one.unit}")
            plan.setdefault((one.host, argv), command)
    return tuple(plan.values())


def fix_confirmation(plan: Sequence[HostCommand], snapshots: Mapping[str, HostSnapshot]) -> Confirmation:
    """Normal; heavy on several hosts, and in a protected group."""
    hosts = tuple(dict.fromkeys(command.host for command in plan))
    asked = change_confirmation(plan[0].command, plan[0].unit or "", hosts, snapshots)
    units = tuple(dict.fromkeys(command.unit for command in plan if command.unit))
    return asked.model_copy(update={"commands": tuple(command.command for command in plan), "units": units})
