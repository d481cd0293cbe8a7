"""The streams of one host over one connection, and what can be asked of the host meanwhile."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from time import monotonic
from typing import TYPE_CHECKING

from dflashtui.errors import (
    CommandTimeout,
    DecodeError,
    DflashError,
    NoSystemd,
    SourceUnavailable,
    TransportLost,
    Unreachable,
)
from dflashtui.fleet.gpu_stream import GpuStream
from dflashtui.fleet.journal_hub import JournalHub
from dflashtui.fleet.metrics_stream import MetricsStream
from dflashtui.fleet.readiness_stream import ReadinessStream
from dflashtui.fleet.service_logs import ServiceLogs
from dflashtui.model.host import LinkState
from dflashtui.source.kernel import OomReader, xid
from dflashtui.source.systemd import open_units

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from dflashtui.config.model import Host
    from dflashtui.fleet.host_state import HostState
    from dflashtui.fleet.plan import HostPlan
    from dflashtui.model.journal import JournalEntry
    from dflashtui.model.unit import UnitStatus
    from dflashtui.source.units import UnitSource
    from dflashtui.transport.base import Transport

SOURCE_RETRY_SECONDS = 30.0
BOOT_ID = ("cat", "/proc/sys/kernel/random/boot_id")


class HostService:
    """What runs while a host is connected. Survives reconnects: the journal's place and the readiness of a run do."""

    def __init__(self, plan: HostPlan, state: HostState) -> None:
        self.plan = plan
        self.state = state
        self.gpus = GpuStream(state)
        self.journal = JournalHub(
            plan.host.name,
            manager=plan.host.manager,
            become=plan.host.become,
            on_kernel=self._heard_kernel,
            on_problem=self._journal_state,
            on_items=ServiceLogs(state, plan.engines, self._is_up).hear,
        )
        in_flight: set[str] = set()
        self.readiness = ReadinessStream(state, plan.readiness_rules, plan.asked_from_console, in_flight)
        asked_for_metrics = plan.engines.keys() & plan.readiness_rules.keys() - plan.asked_from_console
        rules = {unit: plan.readiness_rules[unit] for unit in asked_for_metrics}
        self.metrics = MetricsStream(state, rules, in_flight)
        self._units: UnitSource | None = None
        self._transport: Transport | None = None
        self._again = asyncio.Event()
        self._shell_hangs = False
        self._oom = OomReader()

    @property
    def host(self) -> Host:
        """Its entry in the inventory."""
        return self.plan.host

    @property
    def units(self) -> UnitSource:
        """The subscribed manager. Raises `Unreachable` while there is none."""
        if self._units is None:
            raise self._absent("its service manager")
        return self._units

    @property
    def transport(self) -> Transport:
        """The link. Raises `Unreachable` while there is none."""
        if self._transport is None:
            raise self._absent("the host")
        return self._transport

    def refresh(self) -> None:
        """Read everything now."""
        self._again.set()
        self._again = asyncio.Event()
        self.gpus.hurry()

    async def serve(self, transport: Transport) -> None:
        """Run every stream until the link is lost."""
        self._transport = transport
        try:
            if self._shell_hangs:
                await self._introduce(transport)  # alone: each shell that hangs stays on the host
            async with asyncio.TaskGroup() as group:
                group.create_task(transport.lost())  # noticed even while no source says anything
                group.create_task(self._introduce(transport))
                group.create_task(self.readiness.run(transport))
                group.create_task(self.metrics.run(transport))
                if "journal" in self.plan.sources:
                    group.create_task(self.journal.run(transport))
                for source, stream in (("units", self._watch_units), ("gpus", self.gpus.run)):
                    if source in self.plan.sources:
                        group.create_task(self._retried(source, stream, transport))
        finally:
            self._transport = None

    async def _introduce(self, transport: Transport) -> None:
        """One small command: the boot id, and how long a round trip takes."""
        began, self._shell_hangs = monotonic(), False
        try:
            done = (await transport.run(BOOT_ID)).check()
        except CommandTimeout:
            self._shell_hangs = True
            raise
        latency_ms = round((monotonic() - began) * 1000, 1)
        link = self.state.snapshot.link
        self.state.heard(
            boot_id=done.stdout.decode("ascii", "replace").strip() or None,
            link=link.model_copy(update={"latency_ms": latency_ms}),
            channels=transport.channels,
        )

    async def _retried(self, source: str, stream: Callable[[Transport], Awaitable[None]], transport: Transport) -> None:
        """One source's trouble is its own: it is said, and tried again later or when a person asks."""
        while True:
            try:
                await stream(transport)
            except* NoSystemd as absent:
                self.state.link(LinkState.NO_SYSTEMD, error=_words(absent))
                self.state.source(source, problem=_words(absent))
            except* (SourceUnavailable, DecodeError) as trouble:
                self.state.source(source, problem=_words(trouble))
            await self._wait(SOURCE_RETRY_SECONDS)

    async def _watch_units(self, transport: Transport) -> None:
        async with open_units(transport, manager=self.host.manager, become=self.host.become) as source:
            self._units = source
            self.state.source("units", via=source.via)
            self.state.post(systemd_version=source.systemd_version)
            try:
                async with aclosing(source.watch(self.plan.patterns)) as watched:
                    async for units in watched:
                        self._take(units)
            finally:
                self._units = None
        raise TransportLost(self.host.name, "the service manager's connection ended")

    def _take(self, units: tuple[UnitStatus, ...]) -> None:
        self.state.units(units)
        self.journal.watch(unit.name for unit in units)
        self.gpus.watch_units({unit.name: unit.control_group for unit in units if unit.control_group})

    async def _wait(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._again.wait()
        except TimeoutError:
            pass

    def _journal_state(self, problem: str | None) -> None:
        self.state.source("journal", via="journalctl", problem=problem)

    def _is_up(self, unit: str) -> None:
        """Its log says so: its answer is not waited for until the next turn."""
        self.readiness.ask_now(unit)

    def _heard_kernel(self, entries: tuple[JournalEntry, ...]) -> None:
        for entry in entries:
            if found := xid(entry):
                self.state.xid(found)
            if kill := self._oom.read(entry):
                self.state.oom_kill(kill)

    def _absent(self, what: str) -> Unreachable:
        link = self.state.snapshot.link
        return Unreachable(self.host.name, f"{what} cannot be asked: {link.error or link.state.value}")


def _words(group: BaseExceptionGroup[DflashError]) -> str:
    """The reason of the first failure in a group."""
    failure: BaseException = group
    while isinstance(failure, BaseExceptionGroup):
        failure = failure.exceptions[0]
    return failure.reason if isinstance(failure, SourceUnavailable) else str(failure)
