"""One host that answers questions from a script, for remedies and post-mortems."""

from __future__ import annotations

from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, cast

from dflashtui.demo.commands import DemoCommand
from dflashtui.errors import CommandFailed
from dflashtui.model.host import HostSnapshot, Link, LinkState
from dflashtui.model.journal import JournalEntry
from dflashtui.model.unit import ActiveState, LoadState, UnitStatus
from dflashtui.transport.base import Completed

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from dflashtui.fleet.base import Fleet
    from dflashtui.model.journal import JournalItem
    from dflashtui.transport.base import Stream

NOW = datetime(2026, 12, 1, 3, 0, tzinfo=UTC)
RUN = "0123456789abcdef0123456789abcdef"
UNIT = "engine.service"
FAILED = UnitStatus(
    name=UNIT,
    load_state=LoadState.LOADED,
    active_state=ActiveState.FAILED,
    sub_state="failed",
    result="exit-code",
    invocation_id=RUN,
    n_restarts=0,
    exec_main_code=1,
    exec_main_status=1,
    started_at=NOW - timedelta(seconds=20),
    exited_at=NOW - timedelta(seconds=10),
)
HOST = HostSnapshot(name="gpu-a", link=Link(state=LinkState.UP), units=(FAILED,))


class Script:
    """Answers by the beginning of argv; other programs are not found."""

    def __init__(self, host: HostSnapshot = HOST) -> None:
        self.host = host
        self.answers: dict[tuple[str, ...], bytes] = {}
        self.asked: list[tuple[str, ...]] = []
        self.shown: dict[str, str] = {}
        """Properties of the unit."""
        self.journal: tuple[JournalItem, ...] = ()
        self.text: str | None = None
        self.commanded: list[tuple[str, ...]] = []
        self.says: tuple[str, ...] = ()
        self.ends_with = 0

    @property
    def fleet(self) -> Fleet:
        return cast("Fleet", self)

    def snapshot(self, name: str) -> HostSnapshot:
        return {self.host.name: self.host}[name]

    async def ask(self, host: str, argv: Sequence[str], *, stdin: bytes = b"") -> Completed:
        self.asked.append(tuple(argv))
        for begin, answer in self.answers.items():
            if tuple(argv)[: len(begin)] == begin:
                return Completed(host, tuple(argv), 0, answer, b"")
        return Completed(host, tuple(argv), 127, b"", f"{argv[0]}: not found".encode())

    @asynccontextmanager
    async def command(self, host: str, argv: Sequence[str]) -> AsyncIterator[Stream]:
        self.commanded.append(tuple(argv))
        yield DemoCommand(self.says, self.ends_with, 0.0)

    async def properties(self, host: str, unit: str) -> dict[str, str]:
        return self.shown

    async def history(
        self, host: str, unit: str, *, lines: int, before: str | None = None, invocation_id: str | None = None
    ) -> tuple[JournalItem, ...]:
        return tuple(
            item
            for item in self.journal
            if invocation_id is None or not isinstance(item, JournalEntry) or item.invocation_id == invocation_id
        )[-lines:]

    async def unit_file(self, host: str, unit: str) -> str:
        if self.text is None:
            raise CommandFailed(host, ("systemctl", "cat", unit), 1, "No files found.")
        return self.text


def entries(*texts: str, run: str = RUN, pid: int = 7) -> tuple[JournalEntry, ...]:
    """Lines that a run wrote, a second apart, the last one ten seconds ago."""
    first = NOW - timedelta(seconds=10 + len(texts))
    return tuple(
        JournalEntry(
            cursor=f"s=a;i={number:x};b=b;m=0;t={number:x};x=0",
            at=first + timedelta(seconds=number),
            message=text,
            unit=UNIT,
            invocation_id=run,
            pid=pid,
            transport="stdout",
        )
        for number, text in enumerate(texts, 1)
    )
