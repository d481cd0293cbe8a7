"""A fleet that says what it is told to say, and a console on it."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, nullcontext
from typing import TYPE_CHECKING, Self, cast

from dflashtui.demo.commands import DemoCommand
from dflashtui.errors import CommandFailed
from dflashtui.fleet.base import Change
from dflashtui.model.action import ActionResult
from dflashtui.paths import shared
from dflashtui.transport.base import Completed
from dflashtui.tui.app import DflashApp, Options
from dflashtui.tui.outline import Outline
from dflashtui.tui.screen import MainScreen
from tests.tui.log_items import page_of
from tests.tui.stage import NOW, config_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence
    from contextlib import AbstractContextManager
    from datetime import datetime
    from types import TracebackType

    from textual.pilot import Pilot

    from dflashtui.config.model import Config
    from dflashtui.fleet.base import Fleet
    from dflashtui.model.action import UnitAction
    from dflashtui.model.event import Event
    from dflashtui.model.host import HostSnapshot
    from dflashtui.model.journal import JournalItem
    from dflashtui.model.journal_query import JournalQuery
    from dflashtui.transport.base import Stream

PATIENCE_SECONDS = 30.0


class FakeFleet:
    """Snapshots are posted by the test; actions are remembered and answered with `results`."""

    is_demo = False

    def __init__(self, *snapshots: HostSnapshot) -> None:
        self._snapshots = {snapshot.name: snapshot for snapshot in snapshots}
        self._subscribers: list[asyncio.Queue[Change]] = []
        self.performed: list[UnitAction] = []
        self.fails: set[str] = set()
        """Units on which every action fails."""
        self.may_end: asyncio.Event | None = None
        """Actions end when it is set; `None`: at once."""
        self.journal: tuple[JournalItem, ...] = ()
        self.written = asyncio.Event()
        """Followers are given the last item of the journal when it is set."""
        self.properties_of: dict[str, str] = {"RequiredBy": "gateway.service", "Id": "x"}
        self.looked_at: tuple[str, ...] = ()
        self.refreshed: list[str | None] = []
        self.acknowledged: list[str] = []
        self.is_open = False
        self.asked: list[tuple[str, ...]] = []
        self.answers: dict[str, Completed] = {}
        """By program; others are not found."""
        self.commanded: list[tuple[str, ...]] = []
        self.says: tuple[str, ...] = ()
        self.ends_with = 0
        """What every command that changes says, and its exit status."""
        self.proofs: list[tuple[str, str, str]] = []

    async def __aenter__(self) -> Self:
        self.is_open = True
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.is_open = False

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._snapshots)

    def snapshot(self, host: str) -> HostSnapshot:
        return self._snapshots[host]

    def post(self, snapshot: HostSnapshot, *events: Event) -> None:
        self._snapshots[snapshot.name] = snapshot
        for changes in self._subscribers:
            changes.put_nowait(Change(snapshot.name, snapshot, events))

    @asynccontextmanager
    async def subscribe(self) -> AsyncIterator[AsyncIterator[Change]]:
        changes: asyncio.Queue[Change] = asyncio.Queue()
        for snapshot in self._snapshots.values():
            changes.put_nowait(Change(snapshot.name, snapshot))
        self._subscribers.append(changes)
        try:
            yield self._stream(changes)
        finally:
            self._subscribers.remove(changes)

    async def _stream(self, changes: asyncio.Queue[Change]) -> AsyncIterator[Change]:
        while True:
            yield await changes.get()

    @asynccontextmanager
    async def follow(
        self, host: str, unit: str, *, lines: int = 200
    ) -> AsyncIterator[AsyncIterator[tuple[JournalItem, ...]]]:
        yield self._journal(lines)

    async def _journal(self, lines: int) -> AsyncIterator[tuple[JournalItem, ...]]:
        yield self.journal[-lines:] if lines else ()
        written = self.written
        while True:
            await written.wait()
            yield self.journal[-1:]
            written.clear()

    async def history(
        self, host: str, unit: str, *, lines: int, before: str | None = None, invocation_id: str | None = None
    ) -> tuple[JournalItem, ...]:
        return () if before else self.journal[-lines:]

    async def journal_page(self, host: str, unit: str, query: JournalQuery) -> tuple[JournalItem, ...]:
        return page_of(self.journal, query)

    async def entry_fields(self, host: str, unit: str, cursor: str) -> dict[str, str]:
        return {"MESSAGE": "as it was", "_CMDLINE": "serve --api-key hunter2"}

    async def sync_journal(self, host: str) -> bool:
        return True

    def hurry(self, host: str, unit: str) -> AbstractContextManager[Callable[[], None]]:
        return nullcontext(lambda: None)

    async def perform(self, action: UnitAction) -> ActionResult:
        self.performed.append(action)
        if self.may_end is not None:
            await self.may_end.wait()
        ok = action.unit not in self.fails
        words = "done" if ok else f"{action.host}: {action.command}: exit 1: Unit is masked."
        return ActionResult(
            action=action, ok=ok, result="done" if ok else "failed", message=words, started_at=NOW, duration_seconds=0.2
        )

    async def unit_file(self, host: str, unit: str) -> str:
        if unit in self.fails:
            raise CommandFailed(host, ("systemctl", "cat", unit), 1, "No files found.")
        return "# /etc/systemd/system/x.service\n[Service]\nExecStart=/usr/bin/serve [/x]\n"

    async def properties(self, host: str, unit: str) -> dict[str, str]:
        return self.properties_of

    async def ask(self, host: str, argv: Sequence[str], *, stdin: bytes = b"") -> Completed:
        self.asked.append(tuple(argv))
        return self.answers.get(argv[0], Completed(host, tuple(argv), 127, b"", f"{argv[0]}: not found".encode()))

    @asynccontextmanager
    async def command(self, host: str, argv: Sequence[str]) -> AsyncIterator[Stream]:
        self.commanded.append(tuple(argv))
        yield DemoCommand(self.says, self.ends_with, 0.0)

    async def open_tcp(self, host: str, address: str, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection(address, port)

    def proven(self, host: str, unit: str, words: str) -> None:
        self.proofs.append((host, unit, words))

    def look_at(self, hosts: Sequence[str]) -> None:
        self.looked_at = tuple(hosts)

    def refresh(self, host: str | None = None) -> None:
        self.refreshed.append(host)

    def acknowledge(self, host: str) -> None:
        self.acknowledged.append(host)


class Console:
    """The application under test, with what tests ask of it."""

    def __init__(self, pilot: Pilot[int], fleet: FakeFleet) -> None:
        self.pilot = pilot
        self.fleet = fleet
        self.app = pilot.app

    @property
    def screen(self) -> MainScreen:
        """The main screen, whatever dialog is on it."""
        return next(screen for screen in self.app.screen_stack if isinstance(screen, MainScreen))

    @property
    def text(self) -> str:
        """What is seen."""
        width, height = self.app.size
        lines = self.app.screen._compositor.render_strips()
        return "\n".join("".join(segment.text for segment in line)[:width] for line in lines[:height])

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)

    async def until(self, condition: Callable[[], bool], what: str = "") -> None:
        await until(self.pilot, condition, what or self.text)

    async def sees(self, *words: str) -> None:
        """Wait until all these words are seen."""
        for word in words:
            await until(self.pilot, lambda word=word: word in self.text, lambda word=word: f"{word!r} in\n{self.text}")  # type: ignore[misc]


async def until(pilot: Pilot[int], condition: Callable[[], bool], what: str | Callable[[], str]) -> None:
    """Wait for a condition, with a deadline."""
    loop = asyncio.get_running_loop()
    end = loop.time() + PATIENCE_SECONDS
    while not condition():
        if loop.time() > end:
            raise AssertionError(what() if callable(what) else what)
        await pilot.pause(0.01)


def app_on(
    fleet: FakeFleet,
    *,
    config: Config | None = None,
    theme: str = "dflash-dark",
    read_only: bool = False,
    ascii_only: bool = False,
    clock: Callable[[], datetime] = lambda: NOW,
) -> DflashApp:
    """The application on a fake fleet."""
    known = config or config_of(*(fleet.snapshot(name) for name in fleet.names))
    options = Options(demo=fleet.is_demo, read_only=read_only, ascii_only=ascii_only, theme_folders=(shared("themes"),))
    said = cast("Fleet", fleet)  # it has what the console asks for; the interface serves other front ends too
    return DflashApp(Outline(fleet.names, theme=theme), lambda: (known, said), options, clock)


@asynccontextmanager
async def console(
    *snapshots: HostSnapshot, size: tuple[int, int] = (140, 40), config: Config | None = None, read_only: bool = False
) -> AsyncIterator[Console]:
    """A console that has drawn its fleet; notifications are on, for their errors must be seen."""
    fleet = FakeFleet(*snapshots)
    app = app_on(fleet, config=config, read_only=read_only)
    async with app.run_test(size=size, notifications=True) as pilot:
        await settled(pilot)
        yield Console(pilot, fleet)
    assert not fleet.is_open


async def settled(pilot: Pilot[int]) -> None:
    """Wait until the fleet is drawn."""
    app = pilot.app
    await until(
        pilot, lambda: isinstance(app.screen, MainScreen) and app.screen.row is not None, "the fleet was not drawn"
    )
