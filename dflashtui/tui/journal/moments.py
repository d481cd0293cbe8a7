"""Goes to moments, and searches beyond what is kept."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from textual import on, work
from textual.worker import get_current_worker

from dflashtui.errors import DflashError
from dflashtui.model.journal import JournalEntry
from dflashtui.model.journal_query import JournalQuery
from dflashtui.ops.runs import FAILED_IDS
from dflashtui.source.boots import BOOTS_ARGV, boots_of
from dflashtui.text import decoded, human_span, printable
from dflashtui.tui.dialogs.menu import Choice, Menu
from dflashtui.tui.journal.paging import Paging, cursor_of
from dflashtui.tui.log import messages
from dflashtui.tui.log.merging import merged
from dflashtui.tui.log.moments import MomentError, moment
from dflashtui.tui.log.record import Source
from dflashtui.tui.log.widget import LogPane
from dflashtui.tui.styled import cell

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dflashtui.model.journal import JournalItem
    from dflashtui.source.boots import Boot

AROUND_LINES = 300
FIRST_SPAN = timedelta(minutes=10)
GROWTH = 4
LONGEST_SPAN = timedelta(days=30)


class Moments(Paging):
    """Time is the same in every log."""

    @on(messages.MomentWanted)
    @work(group="moment", exclusive=True)
    async def _go_to_moment(self, event: messages.MomentWanted) -> None:
        try:
            wanted = moment(event.text, self.clock())
            at = wanted if isinstance(wanted, datetime) else await self._named(wanted, Source(event.host, event.unit))
        except (MomentError, DflashError) as error:
            self.complain(error)
            return
        for pane in self._open_panes():
            await self._show_moment(pane, at)

    def _open_panes(self) -> Iterator[LogPane]:
        """Those that show a journal, seen or not."""
        return (pane for pane in self.query(LogPane) if pane.unit)

    async def _named(self, words: str, source: Source) -> datetime | None:
        """The moment that words mean on that host; `None`: now. Raises `DflashError`, `MomentError`."""
        match words:
            case "boot":
                return await self._boot(source.host)
            case "last start":
                unit = next(
                    (one for host in self.newest.hosts if host.name == source.host for one in host.units or ()
                     if one.name == source.unit), None
                )  # fmt: skip
                if unit is None or unit.started_at is None:
                    raise MomentError(f"the last start of {source.unit} is not known")
                return unit.started_at
            case "last failure":
                return await self._last_failure(source)
            case _:
                return None

    async def _boot(self, host: str) -> datetime:
        """proc(5): `btime` is the boot in seconds since the epoch, by the host's clock."""
        done = await self.fleet.ask(host, ("grep", "-m1", "^btime ", "/proc/stat"))
        words = decoded(done.check().stdout).split()
        if len(words) != 2 or not words[1].isdigit():  # noqa: PLR2004 - a name and a number
            raise MomentError(f"the boot of {host} is not known")
        return datetime.fromtimestamp(int(words[1]), UTC)

    async def _last_failure(self, source: Source) -> datetime:
        page = await self.fleet.journal_page(source.host, source.unit, JournalQuery(lines=1, message_ids=FAILED_IDS))
        if not page:
            raise MomentError(f"{source.unit} has not failed, as far as its journal goes back")
        return page[-1].at

    @on(messages.BootsWanted)
    @work(group="runs", exclusive=True)
    async def _list_boots(self, event: messages.BootsWanted) -> None:
        """Choose a boot; the pane goes to its first line."""
        pane = event.pane
        try:
            boots = boots_of((await self.fleet.ask(event.host, BOOTS_ARGV)).check().stdout)
            choices = tuple(
                Choice(str(place), f"{boot.first_at.astimezone():%m-%d %H:%M:%S}", _boot_words(boot), boot.boot_id)
                for place, boot in enumerate(boots[:10])
            )
            title = cell(f"boots of {printable(event.host)}", "strong")
            chosen = await self.app.push_screen_wait(Menu(title, choices)) if choices else None
            boot = next((one for one in boots if one.boot_id == chosen), None)
            if boot is not None and isinstance(pane, LogPane):
                await self._show_moment(pane, boot.first_at)
            elif not choices:
                self.notify(f"the journal of {printable(event.host)} tells of no boot", markup=False)
        except DflashError as error:
            self.complain(error)

    async def _show_moment(self, pane: LogPane, at: datetime | None) -> None:
        if at is None:
            pane.action_now()
        elif not pane.shows(at):
            try:
                await self.show_around(pane, at)
            except DflashError as error:
                self.complain(error)

    async def show_around(self, pane: LogPane, at: datetime, cursor: str | None = None) -> None:
        """Another part of the journals in the pane: what stands on both sides of a moment. Raises `DflashError`."""
        sources = pane.sources or (pane.place,)
        pages = await asyncio.gather(*(self._around(source, at) for source in sources))
        whole = merged(dict(zip(sources, pages, strict=True)))
        pane.show_moment(whole.items, at, cursor, whole.sources if pane.sources else ())

    async def _around(self, source: Source, at: datetime) -> tuple[JournalItem, ...]:
        before = await self.page(source, JournalQuery(lines=AROUND_LINES, until=at))
        last = cursor_of(before, last=True)
        if last is None:
            return await self.page(source, JournalQuery(lines=AROUND_LINES, since=at))
        return (*before, *await self.page(source, JournalQuery(lines=AROUND_LINES, after=last)))

    @on(messages.FurtherWanted)
    @work(group="further", exclusive=True)
    async def _search_further(self, event: messages.FurtherWanted) -> None:
        pane = event.pane
        if not isinstance(pane, LogPane):
            return
        try:
            sources = tuple(one for one in pane.sources if not one.kernel) or (Source(event.host, event.unit),)
            each = await asyncio.gather(*(self._found_back(pane, event, source) for source in sources))
            found = max((one for one in each if one is not None), key=lambda one: one.at, default=None)
            if found is not None:
                await self.show_around(pane, found.at, found.cursor)
            elif not get_current_worker().is_cancelled:
                whose = " and ".join(printable(f"{one.unit} on {one.host}", limit=80) for one in sources)
                self.notify(f"no older line of {whose} matches", markup=False)
        except DflashError as error:
            self.complain(error)
        finally:
            pane.progress = ""

    async def _found_back(self, pane: LogPane, event: messages.FurtherWanted, source: Source) -> JournalEntry | None:
        """The newest matching entry before what is kept: span by span, each longer than the one before."""
        edge, span = event.before - timedelta(microseconds=1), FIRST_SPAN
        while True:
            pane.progress = f"escape cancels · searching back from {edge.astimezone():%m-%d %H:%M}"
            older = await self.page(source, JournalQuery(lines=1, until=edge))
            if not older:
                return None
            edge = min(edge, older[-1].at)
            query = JournalQuery(lines=1, since=edge - span, until=edge, grep=event.pattern.words)
            found = [item for item in await self.page(source, query) if isinstance(item, JournalEntry)]
            if found:
                return found[-1]
            edge, span = edge - span - timedelta(microseconds=1), min(span * GROWTH, LONGEST_SPAN)

    @on(messages.CancelWanted)
    def _cancel(self) -> None:
        self.workers.cancel_group(self, "further")
        self.notify("the search at the host was cancelled", markup=False, timeout=3)


def _boot_words(boot: Boot) -> str:
    """`this one`, `2 before this one`, and how long it lasted."""
    which = "this one" if not boot.number else f"{abs(boot.number)} before this one"
    return f"{which}, {human_span((boot.last_at - boot.first_at).total_seconds())}"
