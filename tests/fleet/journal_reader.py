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
async def kept_running(
    hub: JournalHub, fleet: TestFleet, host: str, user: str = "root"
) -> AsyncIterator[asyncio.Event]:
    """Connect, run the hub, and again when the link is lost; the event says that it was."""
    lost = asyncio.Event()

    async def again_and_again() -> None:
        while True:
            with suppress(TransportError):
                async with way_to(fleet, host, user) as transport:
                    await hub.run(transport)
            lost.set()
            await asyncio.sleep(0.2)

    async with asyncio.TaskGroup() as group:
        task = group.create_task(again_and_again())
        try:
            yield lost
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
        self.entries: list[JournalEntry] = []
        self.messages: list[str] = []
        self.gaps: list[str] = []
        self.numbers: list[int] = []
        """Of the lines that lines.py writes."""
        self.lost = 0
        """Lines that gaps tell of."""

    async def read(self) -> tuple[JournalItem, ...]:
        async with asyncio.timeout(SECONDS):
            batch = await anext(self._items)
        for item in batch:
            if isinstance(item, JournalGap):
                self.gaps.append(item.text)
                self.lost += item.entries_lost or 0
            else:
                self._note(item)
        return batch

    def _note(self, entry: JournalEntry) -> None:
        self.entries.append(entry)
        self.messages.append(entry.message)
        if entry.message.startswith("line ") and self._invocation_id in {None, entry.invocation_id}:
            self.numbers.append(int(entry.message.removeprefix("line ")))

    async def until(self, holds: Callable[[], bool]) -> None:
        while not holds():
            await self.read()
