"""The question to each active service, once."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING

import httpx

from dflashtui.engines.answers import Asked
from dflashtui.source.http import ThroughHost
from dflashtui.source.listeners import foreign_listener
from dflashtui.source.readiness import ask

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dflashtui.fleet.host_state import HostState
    from dflashtui.fleet.plan import HostPlan
    from dflashtui.model.unit import UnitStatus
    from dflashtui.transport.base import Transport


async def ask_services(transport: Transport, plan: HostPlan, state: HostState, units: Sequence[UnitStatus]) -> None:
    """Ask them side by side, through the host, and fold in what they answer."""
    async with (
        httpx.AsyncClient(transport=ThroughHost(transport), trust_env=False) as client,
        asyncio.TaskGroup() as group,
    ):
        for unit in units:
            group.create_task(_ask_one(client, transport, plan, state, unit))


async def _ask_one(
    client: httpx.AsyncClient, transport: Transport, plan: HostPlan, state: HostState, unit: UnitStatus
) -> None:
    rule = plan.readiness_rules[unit.name]
    foreign = partial(foreign_listener, transport, rule.poll, {unit.name, *unit.aliases})
    state.asked(unit.name, await ask(client, rule, Asked(unit.invocation_id), foreign))
