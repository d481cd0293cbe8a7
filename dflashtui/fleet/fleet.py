"""The real fleet: every host supervised by a task of its own."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from time import monotonic
from typing import TYPE_CHECKING, Self

from dflashtui.errors import DflashError
from dflashtui.fleet.board import Board, utc_now
from dflashtui.fleet.clock_steps import follow_clock
from dflashtui.fleet.gpu_stream import IN_VIEW_SECONDS, OUT_OF_VIEW_SECONDS
from dflashtui.fleet.host_state import HostState
from dflashtui.fleet.plan import ALL_SOURCES, first_snapshot, host_plan
from dflashtui.fleet.results import failed_result, job_result
from dflashtui.fleet.serve import HostService
from dflashtui.fleet.supervise import Supervisor

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence
    from contextlib import AbstractAsyncContextManager, AbstractContextManager
    from types import TracebackType

    from dflashtui.config.model import Config, Host
    from dflashtui.fleet.base import Change
    from dflashtui.model.action import ActionResult, UnitAction
    from dflashtui.model.host import HostSnapshot
    from dflashtui.model.journal import JournalItem
    from dflashtui.model.journal_query import JournalQuery
    from dflashtui.transport.base import Completed, Stream, Transport

    OpenTransport = Callable[[Host, Callable[[str], None]], AbstractAsyncContextManager[Transport]]

LARGE_FLEET_HOSTS = 100
LARGE_FLEET_SECONDS = 10.0
ANSWER_BYTES = 4 * 2**20


class RealFleet:
    """See `fleet.base.Fleet`."""

    is_demo = False

    def __init__(self, config: Config, open_transport: OpenTransport, *, sources: frozenset[str] = ALL_SOURCES) -> None:
        """`sources`: which of a host's sources are read; actions need only `units`, logs only `journal`."""
        self._board = Board(first_snapshot(config, host) for host in config.hosts)
        self._services: dict[str, HostService] = {}
        self._supervisors: dict[str, Supervisor] = {}
        self._group = asyncio.TaskGroup()
        self._tasks: list[asyncio.Task[None]] = []
        for host in config.hosts:
            plan = host_plan(config, host, sources)
            state = HostState(plan, self._board)
            service = HostService(plan, state)
            self._services[host.name] = service
            self._supervisors[host.name] = Supervisor(state, _opener(open_transport, host), service.serve)

    async def __aenter__(self) -> Self:
        await self._group.__aenter__()
        states = [service.state for service in self._services.values()]
        works = [follow_clock(states), *(supervisor.run() for supervisor in self._supervisors.values())]
        self._tasks = [self._group.create_task(work) for work in works]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for supervisor in self._supervisors.values():
            supervisor.leave()
        for task in self._tasks:
            task.cancel()
        await self._group.__aexit__(kind, error, traceback)

    @property
    def names(self) -> tuple[str, ...]:
        """See `Fleet`."""
        return self._board.names

    def snapshot(self, host: str) -> HostSnapshot:
        """See `Fleet`."""
        return self._board[host]

    @asynccontextmanager
    async def subscribe(self) -> AsyncIterator[AsyncIterator[Change]]:
        """See `Fleet`."""
        with self._board.subscribe() as changes:
            yield changes

    def follow(
        self, host: str, unit: str, *, lines: int = 200
    ) -> AbstractAsyncContextManager[AsyncIterator[tuple[JournalItem, ...]]]:
        """See `Fleet`."""
        return self._services[host].journal.subscribe(unit, lines=lines)

    async def history(
        self, host: str, unit: str, *, lines: int, before: str | None = None, invocation_id: str | None = None
    ) -> tuple[JournalItem, ...]:
        """See `Fleet`."""
        hub = self._services[host].journal
        return await hub.history(unit, lines=lines, before=before, invocation_id=invocation_id)

    async def journal_page(self, host: str, unit: str, query: JournalQuery) -> tuple[JournalItem, ...]:
        """See `Fleet`."""
        return await self._services[host].journal.page(unit, query)

    async def entry_fields(self, host: str, unit: str, cursor: str) -> dict[str, str]:  # noqa: ARG002 - the interface
        """See `Fleet`."""
        return await self._services[host].journal.fields(cursor)

    async def sync_journal(self, host: str) -> bool:
        """See `Fleet`."""
        return await self._services[host].journal.sync()

    def hurry(self, host: str, unit: str) -> AbstractContextManager[Callable[[], None]]:
        """See `Fleet`."""
        return self._services[host].readiness.hurry(unit)

    async def perform(self, action: UnitAction) -> ActionResult:
        """See `Fleet`."""
        started_at, began = utc_now(), monotonic()
        try:
            result, via = await self._services[action.host].units.perform(action)
        except DflashError as failure:
            return failed_result(action, failure, started_at, monotonic() - began)
        return job_result(action, result, via, started_at, monotonic() - began)

    async def unit_file(self, host: str, unit: str) -> str:
        """See `Fleet`."""
        return await self._services[host].units.unit_file(unit)

    async def properties(self, host: str, unit: str) -> dict[str, str]:
        """See `Fleet`."""
        return await self._services[host].units.properties(unit)

    async def ask(self, host: str, argv: Sequence[str], *, stdin: bytes = b"") -> Completed:
        """See `Fleet`."""
        return await self._services[host].transport.run(argv, stdin=stdin, output_limit_bytes=ANSWER_BYTES)

    @asynccontextmanager
    async def command(self, host: str, argv: Sequence[str]) -> AsyncIterator[Stream]:
        """See `Fleet`."""
        async with self._services[host].transport.stream(argv) as running:
            yield running

    async def open_tcp(self, host: str, address: str, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """See `Fleet`."""
        return await self._services[host].transport.open_tcp(address, port)

    def proven(self, host: str, unit: str, words: str) -> None:
        """See `Fleet`."""
        self._services[host].state.proven(unit, words)

    def look_at(self, hosts: Sequence[str]) -> None:
        """See `Fleet`."""
        others = LARGE_FLEET_SECONDS if len(self._services) > LARGE_FLEET_HOSTS else OUT_OF_VIEW_SECONDS
        for name, service in self._services.items():
            service.gpus.pace(IN_VIEW_SECONDS if name in hosts else others)
            service.metrics.pace(IN_VIEW_SECONDS if name in hosts else 3 * others)

    def refresh(self, host: str | None = None) -> None:
        """See `Fleet`."""
        for name in self.names if host is None else (host,):
            self._supervisors[name].retry_now()
            self._services[name].refresh()

    def acknowledge(self, host: str) -> None:
        """See `Fleet`."""
        self._services[host].state.acknowledge()


def _opener(
    open_transport: OpenTransport, host: Host
) -> Callable[[Callable[[str], None]], AbstractAsyncContextManager[Transport]]:
    return lambda report_step: open_transport(host, report_step)
