"""What the journal tests have in common: a hub kept running over SSH, and a reader that collects."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

from dflashtui.config.model import Host
from dflashtui.errors import TransportError
from dflashtui.model.journal import JournalEntry, JournalGap
from dflashtui.transport.connect import open_transport
from dflashtui.transport.gate import HandshakeGate

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from contextlib import AbstractAsyncContextManager

    from dflashtui.fleet.journal_hub import JournalHub
    from dflashtui.model.journal import JournalItem
    from dflashtui.transport.base import Transport
    from tests.fleet.harness.fleet import TestFleet

SECONDS = 40


def way_to(fleet: TestFleet, host: str, user: str = "root") -> AbstractAsyncContextManager[Transport]:
    """A connection to a host of the fleet."""
    entry = Host(
        name=host,
        address=fleet.hosts[host].address,
        user=user,
        identity_file=fleet.identity_file,
        known_hosts=fleet.known_hosts,
    )
    return open_transport(entry, gate=HandshakeGate(), report_step=lambda _step: None)


@asynccontextmanager
async def kept_running(hub: JournalHub, fleet: TestFleet, host: str, user: str = "root") -> AsyncIterator[None]:
    """Connect, run the hub, and again when the link is lost."""

    async def again_and_again() -> None:
        while True:
            with suppress(TransportError):
                async with way_to(fleet, host, user) as transport:
                    await hub.run(transport)
            await asyncio.sleep(0.2)

    async with asyncio.TaskGroup() as group:
        task = group.create_task(again_and_again())
        try:
            yield
        finally:
            task.cancel()


async def until(holds: Callable[[], bool], seconds: float = SECONDS) -> None:
    """Wait for something on a host."""
    async with asyncio.timeout(seconds):
        while not await asyncio.to_thread(holds):  # noqa: ASYNC110 - a host tells nobody of its files
            await asyncio.sleep(0.1)


class Reader:
    """Collects what a subscription gives."""

    def __init__(self, items: AsyncIterator[tuple[JournalItem, ...]], invocation_id: str | None = None) -> None:
        """`invocation_id`: only that run counts for `numbers`."""
        self._items = items
        self._invocation_id = invocation_id
        self.seen: list[JournalItem] = []

    async def read(self) -> tuple[JournalItem, ...]:
        async with asyncio.timeout(SECONDS):
            batch = await anext(self._items)
        self.seen += batch
        return batch

    async def until(self, holds: Callable[[], bool]) -> None:
        while not holds():
            await self.read()

    @property
    def messages(self) -> list[str]:
        return [item.message for item in self.seen if isinstance(item, JournalEntry)]

    @property
    def numbers(self) -> list[int]:
        """Of the lines that lines.py writes."""
        return [
            int(item.message.removeprefix("line "))
            for item in self.seen
            if isinstance(item, JournalEntry)
            and item.message.startswith("line ")
            and self._invocation_id in {None, item.invocation_id}
        ]

    @property
    def gaps(self) -> list[str]:
        return [item.text for item in self.seen if isinstance(item, JournalGap)]
