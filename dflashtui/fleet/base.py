"""What the front ends see: the same interface for the real fleet and for the demo."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, Self

if TYPE_CHECKING:
    import asyncio
    from collections.abc import AsyncIterator, Callable, Sequence
    from contextlib import AbstractAsyncContextManager, AbstractContextManager
    from types import TracebackType

    from dflashtui.model.action import ActionResult, UnitAction
    from dflashtui.model.event import Event
    from dflashtui.model.host import HostSnapshot
    from dflashtui.model.journal import JournalItem
    from dflashtui.model.journal_query import JournalQuery
    from dflashtui.transport.base import Completed, Stream


@dataclass(frozen=True, slots=True)
class Change:
    """One step of the change stream: the newest snapshot of a host, the events it brought, or both.

    Snapshots may be skipped (the newest wins); events are never skipped.
    """

    host: str
    snapshot: HostSnapshot
    events: tuple[Event, ...] = ()


class Fleet(Protocol):
    """Hosts under supervision. An async context manager: leaving it leaves nothing running, within a second."""

    async def __aenter__(self) -> Self:
        """Begin to look at the hosts."""

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End it all."""

    @property
    def names(self) -> tuple[str, ...]:
        """Host names, in the order of the inventory."""

    @property
    def is_demo(self) -> bool:
        """Simulated: every screen must say so."""

    def snapshot(self, host: str) -> HostSnapshot:
        """The newest values. Raises `KeyError`."""

    def subscribe(self) -> AbstractAsyncContextManager[AsyncIterator[Change]]:
        """Every host once at once, then each change."""

    def follow(
        self, host: str, unit: str, *, lines: int = 200
    ) -> AbstractAsyncContextManager[AsyncIterator[tuple[JournalItem, ...]]]:
        """The last `lines` items of a unit's journal at once, then live batches, across reconnects, nothing twice."""

    async def history(
        self, host: str, unit: str, *, lines: int, before: str | None = None, invocation_id: str | None = None
    ) -> tuple[JournalItem, ...]:
        """Up to `lines` items, oldest first, that stand before the cursor `before` (default: the newest)."""

    async def journal_page(self, host: str, unit: str, query: JournalQuery) -> tuple[JournalItem, ...]:
        """What a query asks for, oldest first. Raises `DflashError`."""

    async def entry_fields(self, host: str, unit: str, cursor: str) -> dict[str, str]:
        """Every field of a journal entry, by name; nothing if it is gone. Raises `DflashError`."""

    async def sync_journal(self, host: str) -> bool:
        """Have journald take in all that was sent to it; false: that cannot be asked for. Raises `DflashError`."""

    def hurry(self, host: str, unit: str) -> AbstractContextManager[Callable[[], None]]:
        """While it lasts the unit is asked often whether it answers; calling what it gives asks at once."""

    async def perform(self, action: UnitAction) -> ActionResult:
        """Carry out an action. Refusals and unknown outcomes are results, not exceptions. Not audited: see `ops`."""

    async def unit_file(self, host: str, unit: str) -> str:
        """As `systemctl cat` shows it. Raises `DflashError`."""

    async def properties(self, host: str, unit: str) -> dict[str, str]:
        """Every property as `systemctl show` words it. Raises `DflashError`."""

    async def ask(self, host: str, argv: Sequence[str], *, stdin: bytes = b"") -> Completed:
        """What a command says that only looks; one that fails is a value. Raises `DflashError`."""

    def command(self, host: str, argv: Sequence[str]) -> AbstractAsyncContextManager[Stream]:
        """Start a command that changes the host; leaving ends it. Not audited: see `ops`. Raises `DflashError`."""

    async def open_tcp(self, host: str, address: str, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A TCP connection that the host makes. Raises `ConnectionError` or `DflashError`."""

    def proven(self, host: str, unit: str, words: str) -> None:
        """A real completion of the unit's present run came from the right model: `words` say which."""

    def look_at(self, hosts: Sequence[str]) -> None:
        """These hosts are on screen: sample them every 2 s, the others less often."""

    def refresh(self, host: str | None = None) -> None:
        """Read now; a host that waits for its next attempt, or for a person, is tried at once. `None`: every host."""

    def acknowledge(self, host: str) -> None:
        """The host's Xid faults were seen; they no longer count as alarms."""
