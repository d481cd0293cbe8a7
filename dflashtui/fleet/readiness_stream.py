"""Asks the active services of one host whether they answer: gently, one request in flight for each."""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import replace
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING

import httpx

from dflashtui.engines.answers import Asked, without_asking
from dflashtui.model.unit import Readiness
from dflashtui.source.http import ThroughHost
from dflashtui.source.listeners import foreign_listener, own_elsewhere
from dflashtui.source.readiness import ask

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator, Mapping

    from dflashtui.engines.readiness import ReadinessRule
    from dflashtui.fleet.host_state import HostState
    from dflashtui.model.unit import UnitStatus
    from dflashtui.transport.base import Transport

TICK_SECONDS = 0.5
LOADING_TICK_SECONDS = 0.1
HURRIED_TICK_SECONDS = 0.05
HURRIED_POLL_SECONDS = (0.1, 0.2, 0.4, 0.8, 1.6, 2.0)
"""While somebody watches a start."""
NEAR_PHASES = frozenset({"finishing", "http", "warm-up"})
NEAR_SECONDS = 0.1
"""Between questions when the log says that it will answer within seconds; a refused connection costs nobody."""


class ReadinessStream:
    """Runs until cancelled; what a service answers goes into the host's state."""

    def __init__(
        self,
        state: HostState,
        rules: Mapping[str, ReadinessRule],
        via_console: frozenset[str],
        in_flight: set[str] | None = None,
    ) -> None:
        """`via_console`: asked from this machine directly; `in_flight`: units of which something is being asked now."""
        self._state = state
        self._rules = rules
        self._via_console = via_console
        self._in_flight = set() if in_flight is None else in_flight
        self._due: dict[str, float] = {}
        self._asked_at: dict[str, float] = {}
        self._hurried: Counter[str] = Counter()
        self._hurried_rounds: Counter[str] = Counter()
        self._wake = asyncio.Event()

    async def run(self, transport: Transport) -> None:
        """Ask whoever is due, again and again."""
        if not self._rules:
            return
        async with self._clients(transport) as (through_host, direct), asyncio.TaskGroup() as group:
            while True:
                for unit in self._to_ask():
                    if unit.name in self._via_console:
                        group.create_task(self._ask(direct, unit))
                    else:
                        group.create_task(self._ask(through_host, unit, transport))
                await self._tick()

    @contextmanager
    def hurry(self, unit: str) -> Iterator[Callable[[], None]]:
        """While it lasts the unit is asked every 0.1 to 2 s; calling what it gives asks at once."""
        self._hurried[unit] += 1
        self.ask_now(unit)
        try:
            yield partial(self.ask_now, unit)
        finally:
            self._hurried[unit] -= 1

    def ask_now(self, unit: str) -> None:
        """Do not wait for the pause between two questions."""
        self._due.pop(unit, None)
        self._hurried_rounds.pop(unit, None)
        self._wake.set()

    async def _tick(self) -> None:
        self._wake.clear()
        with suppress(TimeoutError):
            async with asyncio.timeout(self._tick_seconds):
                await self._wake.wait()

    @property
    def _tick_seconds(self) -> float:
        units = [unit for unit in self._state.snapshot.units or () if unit.name in self._rules]
        if +self._hurried or any(map(_is_near, units)):
            return HURRIED_TICK_SECONDS
        return LOADING_TICK_SECONDS if any(map(self._is_loading, units)) else TICK_SECONDS

    def _is_loading(self, unit: UnitStatus) -> bool:
        answer = self._state.known_answer(unit.name)
        return answer is not None and answer.readiness is Readiness.LOADING

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
            and (self._due_at(unit) <= now or self._state.known_answer(unit.name) is None)
        ]

    def _due_at(self, unit: UnitStatus) -> float:
        """A pause that was begun before the log told that it is near is cut short."""
        due = self._due.get(unit.name, 0.0)
        is_near = _is_near(unit) and self._is_loading(unit)
        return min(due, self._asked_at.get(unit.name, 0.0) + NEAR_SECONDS) if is_near else due

    async def _ask(self, client: httpx.AsyncClient, unit: UnitStatus, transport: Transport | None = None) -> None:
        """`transport`: where the port's owner is looked for."""
        before = self._state.known_answer(unit.name) or Asked(unit.invocation_id)
        self._in_flight.add(unit.name)
        try:
            rule = self._rules[unit.name]
            names = {unit.name, *unit.aliases}
            foreign = None if transport is None else partial(foreign_listener, transport, rule.poll, names)
            asked = await ask(client, rule, before, foreign)
            if asked.is_deaf and transport is not None:
                words = await own_elsewhere(transport, rule.poll, names, unit.main_pid)
                asked = replace(asked, elsewhere=words, detail=f"{asked.detail}; {words}" if words else asked.detail)
        finally:
            self._in_flight.discard(unit.name)
        self._asked_at[unit.name] = monotonic()
        self._due[unit.name] = monotonic() + self._pause(unit.name, asked)
        if self._is_current(unit):
            self._state.asked(unit.name, asked)

    def _pause(self, unit: str, asked: Asked) -> float:
        if not self._hurried[unit]:
            return asked.wait_seconds
        rounds = self._hurried_rounds[unit]
        self._hurried_rounds[unit] += 1
        return HURRIED_POLL_SECONDS[min(rounds, len(HURRIED_POLL_SECONDS) - 1)]

    def _is_current(self, unit: UnitStatus) -> bool:
        now = self._state.snapshot.unit(unit.name)
        return now is not None and now.invocation_id == unit.invocation_id


def _is_near(unit: UnitStatus) -> bool:
    return unit.phase is not None and unit.phase.name in NEAR_PHASES
