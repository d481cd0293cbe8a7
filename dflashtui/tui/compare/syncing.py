"""What stands behind the comparison's keys that change a host: it asks, makes packages alike, puts them back."""

from __future__ import annotations

import asyncio
from importlib import import_module
from time import monotonic
from typing import TYPE_CHECKING, TypeVar

from dflashtui.errors import ConfigError, DflashError
from dflashtui.model.event import Event, EventKind, Severity
from dflashtui.ops.audit import who
from dflashtui.ops.fleet_transport import FleetTransport
from dflashtui.text import printable
from dflashtui.tui.acting import audit_for
from dflashtui.tui.compare import sync_words, words
from dflashtui.tui.compare.directions import directions, packages
from dflashtui.tui.compare.picking import PickScreen
from dflashtui.tui.dialogs.confirm import Confirm
from dflashtui.tui.dialogs.menu import Choice, Menu
from dflashtui.tui.dialogs.text import TextScreen
from dflashtui.tui.preflight.fixing import FixScreen
from dflashtui.tui.styled import cell

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Coroutine, Sequence

    from dflashtui.model.command import CommandResult, HostCommand
    from dflashtui.ops.sync_sides import Side
    from dflashtui.tui.compare.directions import Direction
    from dflashtui.tui.compare.screen import CompareScreen
    from dflashtui.tui.dialogs.confirm import Question
    from dflashtui.tui.shell import Shell

NEEDED = ("dflashtui.ops.sync", "dflashtui.ops.sync_asking", "dflashtui.ops.interpreters")
STALE_SECONDS = 300.0
"""A plan that was answered later than that is made again."""
T = TypeVar("T")
LETTERS = "123456789abcdefghijklmnopqrstuvwxyz"


class SyncDesk:
    """One for a screen."""

    def __init__(self, screen: Shell) -> None:
        self._screen = screen
        self._audit = audit_for(is_demo=screen.fleet.is_demo)
        self._running: asyncio.Task[None] | None = None

    def may_change(self, host: str) -> bool:
        """Whether anything may be run there."""
        fleet = self._screen.fleet
        return not self._screen.options.read_only and host in fleet.names and not fleet.snapshot(host).read_only

    async def sync(self, sheet: CompareScreen) -> None:
        """From the choice of packages to the result."""
        ways = directions(sheet.pairing, sheet.comparison, self.may_change)
        way = await self._one_of(ways, "make which like which?", [f"make {to} like {of}" for of, to in ways])
        if way is None:
            return
        rows = packages(sheet.comparison, way)
        picked = await self._screen.app.push_screen_wait(PickScreen(way, rows))
        if picked:
            await self._told(self._sync(sheet, way, picked))

    async def _sync(self, sheet: CompareScreen, way: Direction, picked: Sequence[str]) -> None:
        await _imported()
        from dflashtui.ops.sync import apply, commands  # noqa: PLC0415 - seldom needed
        from dflashtui.ops.sync_asking import sync_confirmation  # noqa: PLC0415 - as above
        from dflashtui.ops.sync_sides import obstacle, planned  # noqa: PLC0415 - as above

        self._screen.notify("looking at what has to change …", markup=False, timeout=3)
        there, here = await asyncio.gather(*(self._side(sheet, host, picked) for host in way))
        plan = await planned(there, here, picked, copy=False)
        if plan.is_empty or plan.of("refused"):
            title = words.way_title(way)
            await self._screen.app.push_screen_wait(TextScreen(title, {"plan": sync_words.plan_page(plan)}, "plan"))
            return
        if why := obstacle(here):
            self._screen.warn(f"{way.target}: {why}")
            return
        run = commands(plan, here)
        asked = sync_confirmation(plan, here, self._screen.fleet.snapshot(way.target))
        fleet, audit, read_only = self._screen.fleet, self._audit, self._is_read_only
        results = lambda tell: apply(plan, there, here, fleet, audit, tell, read_only=read_only)  # noqa: E731 - used once
        await self._asked_and_run(sheet, sync_words.sync_question(asked, plan, run), run, results)

    async def undo(self, sheet: CompareScreen) -> None:
        """Put back what the last sync of a host has replaced."""
        hosts = [host for host in (sheet.comparison.hosts if sheet.comparison else ()) if self.may_change(host)]
        host = await self._one_of(hosts, "put back on which host?", hosts)
        if host is not None:
            await self._told(self._undo(sheet, host))

    async def _undo(self, sheet: CompareScreen, host: str) -> None:
        await _imported()
        from dflashtui.ops.sync import last_exchanges, undo, undo_commands  # noqa: PLC0415 - seldom needed
        from dflashtui.ops.sync_asking import undo_confirmation  # noqa: PLC0415 - as above

        here = await self._side(sheet, host, ())
        exchanges = await last_exchanges(here)
        run = undo_commands(exchanges, here)
        names = sorted({str(package) for one in exchanges for package in one["packages"]})
        asked = undo_confirmation(names, here, self._screen.fleet.snapshot(host))
        fleet, audit, read_only = self._screen.fleet, self._audit, self._is_read_only
        results = lambda tell: undo(exchanges, here, fleet, audit, tell, read_only=read_only)  # noqa: E731 - used once
        await self._asked_and_run(sheet, sync_words.undo_question(asked, run), run, results)

    @property
    def _is_read_only(self) -> bool:
        return self._screen.options.read_only

    async def _side(self, sheet: CompareScreen, host: str, names: Sequence[str]) -> Side:
        from dflashtui.ops.interpreters import where_on  # noqa: PLC0415 - as above
        from dflashtui.ops.sync_sides import read_side  # noqa: PLC0415 - as above

        config, transport = self._screen.config, FleetTransport(self._screen.fleet, host)
        where = await where_on(transport, config, config.host(host), unit=sheet.pairing.unit)
        return await read_side(config.host(host), transport, where, names)

    async def _one_of(self, some: Sequence[T], title: str, labels: Sequence[str]) -> T | None:
        """The only one, else the one that is chosen."""
        if len(some) <= 1:
            return next(iter(some), None)
        if len(some) > len(LETTERS):
            self._screen.warn(f"{len(some)} ways are too many to choose from: compare fewer hosts, or set `reference`")
            return None
        lettered = enumerate(zip(LETTERS, labels, strict=False))
        choices = tuple(Choice(letter, printable(label), "", str(place)) for place, (letter, label) in lettered)
        answer = await self._screen.app.push_screen_wait(Menu(cell(title, "strong"), choices))
        return some[int(answer)] if answer is not None else None

    async def _told(self, work: Coroutine[None, None, None]) -> None:
        """What keeps it from being done is said."""
        try:
            await work
        except ConfigError as unclear:
            self._screen.warn(unclear.problems[0])
        except TimeoutError:
            self._screen.warn("no answer in time; nothing was changed")
        except DflashError as trouble:
            self._screen.warn(str(trouble))

    async def _asked_and_run(
        self,
        sheet: CompareScreen,
        question: Question,
        run: Sequence[HostCommand],
        results: Callable[[Callable[[str], None]], AsyncIterator[CommandResult]],
    ) -> None:
        """`results`: runs the commands, and gives their lines to what it is called with."""
        seen = monotonic()
        if not await self._screen.app.push_screen_wait(Confirm(question)):
            return
        if monotonic() - seen > STALE_SECONDS:
            self._screen.warn("not sent: that was seen a while ago, and may be otherwise by now; ask for it again")
            return
        steps = FixScreen(run, self._end, verb="changing packages")
        await self._screen.app.push_screen(steps)
        done: list[CommandResult] = []
        self._running = asyncio.create_task(_carry_out(steps, len(run), results(steps.line), done))
        try:
            await asyncio.wait({self._running})
        finally:
            self._end()
            await asyncio.gather(self._running, return_exceptions=True)
        if not self._running.cancelled():
            self._running.result()
        steps.ended(sync_words.ending(done, len(run)))
        self._tell(run, done)
        if sheet.is_attached:
            sheet.action_again()

    def _end(self) -> None:
        if self._running is not None:
            self._running.cancel()

    def _tell(self, run: Sequence[HostCommand], done: Sequence[CommandResult]) -> None:
        bad = next((result for result in done if not result.ok), None)
        is_whole = len(done) == len(run) and bad is None
        words = f"{', '.join(one.title for one in run)}: done" if is_whole else sync_words.ending(done, len(run))
        event = Event(
            at=self._screen.clock(),
            kind=EventKind.ACTION,
            severity=Severity.OK if is_whole else Severity.BAD if bad and bad.ok is False else Severity.WARN,
            host=run[0].host,
            message=printable(f"{bad.message if bad else words} · by {who()}"),
        )
        self._screen.tell(event)


async def _imported() -> None:
    """Beside the screen, which goes on."""
    for name in NEEDED:
        await asyncio.to_thread(import_module, name)


async def _carry_out(
    steps: FixScreen, count: int, results: AsyncIterator[CommandResult], done: list[CommandResult]
) -> None:
    """One after the other, as they are asked for; `done` grows."""
    steps.begin(0)
    async for result in results:
        done.append(result)
        steps.result(result)
        if not result.ok or steps.is_stopping:
            break
        if len(done) < count:
            steps.begin(len(done))
