"""Asks the active services of one host whether they answer: gently, one request in flight for each."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack, asynccontextmanager
from time import monotonic
from typing import TYPE_CHECKING

import httpx

from dflashtui.source.http import ThroughHost
from dflashtui.source.readiness import Asked, ask, without_asking

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from dflashtui.engines.readiness import ReadinessRule
    from dflashtui.fleet.host_state import HostState
    from dflashtui.model.unit import UnitStatus
    from dflashtui.transport.base import Transport

TICK_SECONDS = 0.5


class ReadinessStream:
    """Runs until cancelled; what a service answers goes into the host's state."""

    def __init__(self, state: HostState, rules: Mapping[str, ReadinessRule], via_console: frozenset[str]) -> None:
        """`via_console`: units that are asked from this machine directly (`via = "console"`)."""
        self._state = state
        self._rules = rules
        self._via_console = via_console
        self._in_flight: set[str] = set()
        self._due: dict[str, float] = {}

    async def run(self, transport: Transport) -> None:
        """Ask whoever is due, again and again."""
        if not self._rules:
            return
        async with self._clients(transport) as (through_host, direct), asyncio.TaskGroup() as group:
            while True:
                for unit in self._to_ask():
                    group.create_task(self._ask(direct if unit.name in self._via_console else through_host, unit))
                await asyncio.sleep(TICK_SECONDS)

    @asynccontextmanager
    async def _clients(self, transport: Transport) -> AsyncIterator[tuple[httpx.AsyncClient, httpx.AsyncClient]]:
        """Through the host, and direct; the latter loads certificates (0.1 s of CPU), so only where it is wanted."""
        async with AsyncExitStack() as stack:
            through_host = httpx.AsyncClient(transport=ThroughHost(transport), trust_env=False)
            await stack.enter_async_context(through_host)
            if not self._via_console:
                yield through_host, through_host
                return
            yield through_host, await stack.enter_async_context(httpx.AsyncClient(trust_env=False))

    def _to_ask(self) -> list[UnitStatus]:
        now = monotonic()
        return [
            unit
            for unit in self._state.snapshot.units or ()
            if unit.name in self._rules
            and without_asking(unit, has_rule=True) is None
            and unit.name not in self._in_flight
            and (self._due.get(unit.name, 0.0) <= now or self._state.known_answer(unit.name) is None)
        ]

    async def _ask(self, client: httpx.AsyncClient, unit: UnitStatus) -> None:
        before = self._state.known_answer(unit.name) or Asked(unit.invocation_id)
        self._in_flight.add(unit.name)
        try:
            asked = await ask(client, self._rules[unit.name], before)
        finally:
            self._in_flight.discard(unit.name)
        self._due[unit.name] = monotonic() + asked.wait_seconds
        if self._is_current(unit):
            self._state.asked(unit.name, asked)

    def _is_current(self, unit: UnitStatus) -> bool:
        now = self._state.snapshot.unit(unit.name)
        return now is not None and now.invocation_id == unit.invocation_id
