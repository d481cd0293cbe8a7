"""Brings journals to the log pane that is seen: one unit's, or several in one stream."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING

from textual import work

from dflashtui.errors import DflashError
from dflashtui.model.host import LinkState
from dflashtui.model.journal import JournalEntry
from dflashtui.ops.logs_merge import LogMerge
from dflashtui.source.journal_argv import KERNEL
from dflashtui.source.kernel import matters
from dflashtui.text import printable
from dflashtui.tui.glyphs import link_state
from dflashtui.tui.log.record import Source
from dflashtui.tui.log.widget import LogPane
from dflashtui.tui.shell import Shell
from dflashtui.tui.subject import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from dflashtui.model.journal import JournalItem
    from dflashtui.tui.subject import Subject

FIRST_LINES = 200
RETRY_SECONDS = 5.0
SETTLE_SECONDS = 0.15
RUNNING_SECONDS = 0.5
"""The cursor may run over many units: the journal of the one it stays on is read."""
LOOK_SECONDS = 0.1
GRACE_SECONDS = 1.0
"""How long what the others have waits for a journal that has not answered yet."""
SKEW_SECONDS = 1.0

Arrival = tuple[Source, tuple["JournalItem", ...]]


class Following(Shell):
    """The part of the screen that follows logs."""

    _followed: tuple[LogPane, tuple[Source, ...]] | None = None
    _merged: tuple[Source, ...] = ()
    """The units that were marked when a log was asked for: they stay in one stream while one of them is the row."""
    _journal_trouble = ""
    """Why the journal that is followed cannot be read."""
    _asked_at = 0.0
    """When a log was asked for last, by the monotonic clock."""
    _shown_run = ""
    """Which run is shown, when it is not the newest one."""

    def draw(self) -> None:
        """The log says whether its host can be reached."""
        super().draw()
        if self.log_pane is not None and self.log_pane.unit:
            self._note(self.log_pane)

    @property
    def log_pane(self) -> LogPane | None:
        """The log pane of the view that is seen."""
        found = (pane for pane in self.view.panes if isinstance(pane, LogPane)) if self.view else ()
        return next(iter(found), None)

    def _note(self, pane: LogPane) -> None:
        host = self.newest.host(pane.host)
        if host is None:
            return
        problem = next((one.problem for one in host.sources if one.source == "journal" and one.problem), "")
        link = "" if host.link.state is LinkState.UP else link_state(host.link, self.clock()).word
        trouble = link or printable(problem or "", limit=200) or self._journal_trouble or self._shown_run
        pane.note = " · ".join(filter(None, (trouble, self._skew_words(pane.sources))))

    def _skew_words(self, sources: Iterable[Source]) -> str:
        """Whose clock is apart from this machine's: their lines stand in a wrong place among the others'."""
        hosts = dict.fromkeys(source.host for source in sources)
        skews = {name: host.clock_skew_seconds for name in hosts if (host := self.newest.host(name)) is not None}
        told = [
            f"{printable(name, limit=40)} {skew:+.1f} s"
            for name, skew in skews.items()
            if skew is not None and abs(skew) >= SKEW_SECONDS
        ]
        return f"clocks apart: {', '.join(told)}" if len(hosts) > 1 and told else ""

    def follow_row(self) -> None:
        """Follow the unit that the view is about, unless it is followed already."""
        pane, subject = self.log_pane, self.view.row if self.view else None
        if pane is None:
            self._followed = None
            self.workers.cancel_group(self, "journal")
        elif subject is not None and subject.kind is Kind.UNIT:
            self._follow_unit(pane, subject)

    def _follow_unit(self, pane: LogPane, subject: Subject) -> None:
        alone = Source(subject.host, subject.name)
        if self._followed is not None and self._followed[0] is pane and alone in self._followed[1]:
            return
        sources = self._merged if alone in self._merged else (alone,)
        self._merged = sources if len(sources) > 1 else ()
        self.follow_sources(pane, sources, FIRST_LINES)

    def merge_next(self, subjects: Sequence[Subject]) -> None:
        """The log that is opened next shows all these units, in one stream."""
        units = [Source(subject.host, subject.name) for subject in subjects if subject.kind is Kind.UNIT]
        self._merged = tuple(units) if len(units) > 1 else ()
        self._followed = None

    def follow_sources(self, pane: LogPane, sources: tuple[Source, ...], lines: int) -> None:
        """Follow these from now on."""
        self._followed = pane, sources
        if len(sources) > 1:
            self._follow_all(pane, sources, lines)
        else:
            self._follow(pane, sources[0], lines)

    def toggle_kernel(self, pane: LogPane) -> None:
        """Mix the kernel's lines in, or leave them out."""
        _, sources = self._followed or (pane, (Source(pane.host, pane.unit),))
        units = tuple(source for source in sources if not source.kernel)
        hosts = dict.fromkeys(source.host for source in units)
        kernels = () if pane.has_kernel else tuple(Source(host, KERNEL, kernel=True) for host in hosts)
        self.follow_sources(pane, (*units, *kernels), FIRST_LINES)

    async def _settled(self) -> None:
        """Wait, if the cursor was on another unit a moment ago: it may go on."""
        before, self._asked_at = self._asked_at, monotonic()
        if self._asked_at - before < RUNNING_SECONDS:
            await asyncio.sleep(SETTLE_SECONDS)

    @work(group="journal", exclusive=True)
    async def _follow(self, pane: LogPane, source: Source, lines: int) -> None:
        await self._settled()
        self._shown_run = self._journal_trouble = ""
        pane.show(source.host, source.unit)
        self._note(pane)
        while True:
            try:
                async with self.fleet.follow(source.host, source.unit, lines=lines) as batches:
                    self._journal_trouble = ""
                    async for batch in batches:
                        pane.append(batch)
            except DflashError as error:
                self._journal_trouble = printable(str(error), limit=200)
                self._note(pane)
            await asyncio.sleep(RETRY_SECONDS)

    @work(group="journal", exclusive=True)
    async def _follow_all(self, pane: LogPane, sources: tuple[Source, ...], lines: int) -> None:
        await self._settled()
        self._shown_run = self._journal_trouble = ""
        pane.show(sources[0].host, sources[0].unit, (), sources)
        self._note(pane)
        arrivals: asyncio.Queue[Arrival] = asyncio.Queue(64)
        async with asyncio.TaskGroup() as group:
            for source in sources:
                group.create_task(self._read_on(pane, source, lines, arrivals))
            await _merge_into(pane, sources, arrivals)

    async def _read_on(self, pane: LogPane, source: Source, lines: int, arrivals: asyncio.Queue[Arrival]) -> None:
        while True:
            try:
                async with self.fleet.follow(source.host, source.unit, lines=lines) as batches:
                    async for batch in batches:
                        await arrivals.put((source, what_matters(source, batch)))
                        lines = 0
            except DflashError as error:
                self._journal_trouble = f"{printable(source.host, limit=40)}: {printable(str(error), limit=160)}"
                self._note(pane)
            await asyncio.sleep(RETRY_SECONDS)


def what_matters(source: Source, items: Sequence[JournalItem]) -> tuple[JournalItem, ...]:
    """Of the kernel's lines only those that explain a service's trouble."""
    if not source.kernel:
        return tuple(items)
    return tuple(item for item in items if not isinstance(item, JournalEntry) or matters(item))


async def _merge_into(pane: LogPane, sources: Sequence[Source], arrivals: asyncio.Queue[Arrival]) -> None:
    """What is there at first in one order of time, then what comes, each held back for a moment."""
    merge = LogMerge()
    by_name = {str(place): source for place, source in enumerate(sources)}
    names = {source: name for name, source in by_name.items()}
    waited_for, began = set(sources), monotonic()
    while True:
        with suppress(TimeoutError):
            async with asyncio.timeout(LOOK_SECONDS if merge or waited_for else None):
                source, items = await arrivals.get()
                waited_for.discard(source)
                merge.put(names[source], items, monotonic())
        if waited_for and monotonic() - began < GRACE_SECONDS:
            continue
        waited_for.clear()
        if due := merge.due(monotonic()):
            pane.append_merged([(by_name[name], item) for name, item in due])
