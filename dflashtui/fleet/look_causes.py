"""The causes of failed units, as part of one look. Imported only where a unit has failed."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from dflashtui.errors import CommandFailed, CommandTimeout, DecodeError, SourceUnavailable
from dflashtui.fleet.causes import cause_of
from dflashtui.model.unit import ActiveState
from dflashtui.source.journal import JournalReader
from dflashtui.source.journal_access import journal_access

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dflashtui.fleet.host_state import HostState
    from dflashtui.fleet.plan import HostPlan
    from dflashtui.model.finding import Cause
    from dflashtui.model.unit import UnitStatus
    from dflashtui.transport.base import Transport

CAUSE_LINES = 2000
READINGS_AT_ONCE = 4


async def explain(transport: Transport, plan: HostPlan, state: HostState, failed: Sequence[UnitStatus]) -> None:
    """One bounded reading of each failed unit's journal, over the same connection. Raises `TransportLost`."""
    try:
        access = await journal_access(transport, manager=plan.host.manager, become=plan.host.become)
    except SourceUnavailable as trouble:
        state.source("journal", problem=trouble.reason)
        return
    reader, room = JournalReader(transport, access), asyncio.Semaphore(READINGS_AT_ONCE)
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(_cause(reader, room, state.name, unit)) for unit in failed]
    state.post(causes=tuple(cause for task in tasks if (cause := task.result())))


async def _cause(reader: JournalReader, room: asyncio.Semaphore, host: str, unit: UnitStatus) -> Cause | None:
    """Of a unit that starts again and again the run before the present one may tell."""
    run_id = unit.invocation_id if unit.active_state is ActiveState.FAILED else None
    async with room:
        try:
            items = await reader.history(unit.name, lines=CAUSE_LINES, invocation_id=run_id)
        except (CommandFailed, CommandTimeout, SourceUnavailable, DecodeError):
            return None
    return cause_of(host, unit, items)
