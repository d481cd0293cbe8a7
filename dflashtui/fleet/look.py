"""One look at every host, for `--check`: the same values as the console's, without staying."""

from __future__ import annotations

import asyncio
from time import monotonic
from typing import TYPE_CHECKING

from dflashtui.engines.answers import without_asking
from dflashtui.errors import DecodeError, DflashError, NoSystemd, SourceUnavailable
from dflashtui.fleet.board import Board, utc_now
from dflashtui.fleet.host_state import HostState
from dflashtui.fleet.plan import HostPlan, first_snapshot, host_plan
from dflashtui.model.host import Link, LinkState
from dflashtui.source import glance_values as values
from dflashtui.source.glance import glance

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dflashtui.config.model import Config
    from dflashtui.fleet.fleet import OpenTransport
    from dflashtui.model.host import HostSnapshot
    from dflashtui.source.glance import Part
    from dflashtui.transport.base import Transport


class FleetLook:
    """See `check.run.Look`."""

    is_demo = False

    def __init__(self, config: Config, open_transport: OpenTransport) -> None:
        self._plans = [host_plan(config, host) for host in config.hosts]
        self._board = Board(first_snapshot(config, host) for host in config.hosts)
        self._open = open_transport

    @property
    def names(self) -> Sequence[str]:
        """Host names, in the order of the inventory."""
        return self._board.names

    def snapshot(self, host: str) -> HostSnapshot:
        """What is known of a host so far."""
        return self._board[host]

    async def run(self) -> None:
        """Look at every host at once; what fails is in the snapshot."""
        async with asyncio.TaskGroup() as group:
            for plan in self._plans:
                group.create_task(self._look(plan))

    async def _look(self, plan: HostPlan) -> None:
        state = HostState(plan, self._board)
        try:
            async with self._open(plan.host, lambda step: state.link(LinkState.CONNECTING, step=step)) as transport:
                await look(transport, plan, state)
        except DflashError as failure:
            state.down(failure)


async def look(transport: Transport, plan: HostPlan, state: HostState) -> None:
    """One command, then one question to each active service. Raises `TransportLost`."""
    began = monotonic()
    parts = await glance(transport, manager=plan.host.manager, patterns=plan.patterns)
    boot_id, host_time = values.boot_and_clock(parts)
    state.post(
        link=Link(state=LinkState.UP, since=utc_now(), latency_ms=round((monotonic() - began) * 1000, 1)),
        boot_id=boot_id,
        clock_skew_seconds=None if host_time is None else round((host_time - utc_now()).total_seconds(), 1),
    )
    _fold_gpus(state, values.gpus(parts))
    _fold_units(state, parts, plan)
    await _ask_services(transport, plan, state)
    await _explain(transport, plan, state)


def _fold_gpus(state: HostState, found: values.Gpus) -> None:
    state.source("gpus", via="nvidia-smi", problem=found.problem, is_absent=found.is_absent)
    state.post(gpus=found.gpus, gpus_at=utc_now() if found.gpus else None, driver_version=found.driver_version)


def _fold_units(state: HostState, parts: Mapping[str, Part], plan: HostPlan) -> None:
    try:
        state.post(systemd_version=values.systemd_version(parts, state.name))
        state.units(values.units(parts, state.name, plan.patterns))
        state.source("units", via="systemctl")
    except NoSystemd as absent:
        state.link(LinkState.NO_SYSTEMD, error=absent.reason)
    except SourceUnavailable as trouble:
        state.source("units", problem=trouble.reason)
    except DecodeError as trouble:
        state.source("units", problem=str(trouble))


async def _ask_services(transport: Transport, plan: HostPlan, state: HostState) -> None:
    active = [
        unit
        for unit in state.snapshot.units or ()
        if unit.name in plan.readiness_rules and without_asking(unit, has_rule=True) is None
    ]
    if active:
        from dflashtui.fleet.look_services import ask_services  # noqa: PLC0415 - httpx costs 0.1 s, and not all need it

        await ask_services(transport, plan, state, active)


async def _explain(transport: Transport, plan: HostPlan, state: HostState) -> None:
    failed = [unit for unit in state.snapshot.units or () if unit.has_failed]
    if failed:
        from dflashtui.fleet.look_causes import explain  # noqa: PLC0415 - the diagnosis costs time, and not all need it

        await explain(transport, plan, state, failed)
