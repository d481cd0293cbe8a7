"""Reads the metrics of the ready services of one host: gently, and never while another question is in flight."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from datetime import UTC, datetime
from time import monotonic
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import httpx

from dflashtui.engines.figures import Figures
from dflashtui.model.unit import Readiness
from dflashtui.source.http import ThroughHost
from dflashtui.source.metrics import scrape

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dflashtui.engines.readiness import ReadinessRule
    from dflashtui.fleet.host_state import HostState
    from dflashtui.model.unit import UnitStatus
    from dflashtui.transport.base import Transport

TICK_SECONDS = 0.5
INTERVAL_SECONDS = 5.0
"""The engines themselves renew their gauges every few seconds."""
RETRY_SECONDS = 30.0
LASTING_SECONDS = 300.0
"""Until a service without metrics is asked for them again."""


class MetricsStream:
    """Runs until cancelled; what a service tells goes into the host's state."""

    def __init__(self, state: HostState, rules: Mapping[str, ReadinessRule], in_flight: set[str]) -> None:
        """`rules`: of services that may have metrics; `in_flight`: units of which something is being asked now."""
        self._state = state
        self._bases = {unit: _base(rule) for unit, rule in rules.items()}
        self._in_flight = in_flight
        self._due: dict[str, float] = {}
        self._figures: dict[str, tuple[str | None, Figures]] = {}
        self._interval_seconds = INTERVAL_SECONDS

    def pace(self, interval_seconds: float) -> None:
        """How often to read from now on."""
        self._interval_seconds = max(INTERVAL_SECONDS, interval_seconds)

    async def run(self, transport: Transport) -> None:
        """Read whoever is due, again and again."""
        if not self._bases:
            return
        client = httpx.AsyncClient(transport=ThroughHost(transport), trust_env=False)
        async with client, asyncio.TaskGroup() as group:
            while True:
                for unit in self._to_read():
                    self._in_flight.add(unit.name)
                    group.create_task(self._read(client, unit))
                await asyncio.sleep(TICK_SECONDS)

    def _to_read(self) -> list[UnitStatus]:
        now = monotonic()
        return [
            unit
            for unit in self._state.snapshot.units or ()
            if unit.name in self._bases
            and unit.readiness in {Readiness.READY, Readiness.SICK}
            and unit.name not in self._in_flight
            and self._due.get(unit.name, 0.0) <= now
        ]

    async def _read(self, client: httpx.AsyncClient, unit: UnitStatus) -> None:
        try:
            found = await scrape(client, self._bases[unit.name])
        finally:
            self._in_flight.discard(unit.name)
        pause = self._interval_seconds
        if found.reading is None:
            pause = LASTING_SECONDS if found.is_lasting else RETRY_SECONDS
            self._state.note_run(unit.name, unit.invocation_id, load_problem=found.problem)
        else:
            load = self._figures_of(unit).take(found.reading, datetime.now(UTC))
            self._state.note_run(unit.name, unit.invocation_id, load=load, load_problem=None)
        self._due[unit.name] = monotonic() + pause

    def _figures_of(self, unit: UnitStatus) -> Figures:
        """Each run begins anew."""
        run, figures = self._figures.get(unit.name, (None, None))
        if figures is None or run != unit.invocation_id:
            figures = Figures()
            self._figures[unit.name] = unit.invocation_id, figures
        return figures


def _base(rule: ReadinessRule) -> str:
    with suppress(ValueError):
        parts = urlsplit(rule.poll)
        return f"{parts.scheme}://{parts.netloc}"
    return rule.poll
