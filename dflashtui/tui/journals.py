"""Brings journals to log panes: one follower at a time, for the pane that is seen."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from textual import on, work

from dflashtui.errors import DflashError
from dflashtui.model.host import LinkState
from dflashtui.model.journal import JournalEntry
from dflashtui.text import human_span, printable
from dflashtui.tui.details.parts import facts, foreign
from dflashtui.tui.dialogs.text import TextScreen
from dflashtui.tui.glyphs import link_state
from dflashtui.tui.log import messages
from dflashtui.tui.log.ranges import Range
from dflashtui.tui.log.widget import LogPane
from dflashtui.tui.shell import Shell
from dflashtui.tui.styled import cell
from dflashtui.tui.subject import Kind, Subject

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from dflashtui.model.journal import JournalItem

FIRST_LINES = 200
PAGE_LINES = 500
MOST_LINES = 10_000
RETRY_SECONDS = 5.0
SETTLE_SECONDS = 0.15
"""The cursor may run over many units: the journal of the one it stays on is read."""


class Journals(Shell):
    """The part of the screen that reads logs."""

    _followed: tuple[LogPane, str, str] | None = None
    _journal_trouble = ""
    """Why the journal that is followed cannot be read."""
    _shown_run = ""
    """Which run is shown, when it is not the newest one."""

    def draw(self) -> None:
        """The log says whether its host can be reached."""
        super().draw()
        if self.log_pane is not None and self.log_pane.unit:
            self._note(self.log_pane)

    def _note(self, pane: LogPane) -> None:
        host = self.newest.host(pane.host)
        if host is None:
            return
        problem = next((one.problem for one in host.sources if one.source == "journal" and one.problem), "")
        link = "" if host.link.state is LinkState.UP else link_state(host.link, self.clock()).word
        pane.note = link or printable(problem or "", limit=200) or self._journal_trouble or self._shown_run

    def follow_row(self) -> None:
        """Follow the unit that the view is about, unless it is followed already."""
        pane, subject = self.log_pane, self.view.row if self.view else None
        if pane is None:
            self._followed = None
            self.workers.cancel_group(self, "journal")
        elif subject is not None and subject.kind is Kind.UNIT and self._followed != (pane, *subject[1:]):
            self._followed = (pane, subject.host, subject.name)
            self._follow(pane, subject.host, subject.name, FIRST_LINES)

    @property
    def log_pane(self) -> LogPane | None:
        """The log pane of the view that is seen."""
        found = (pane for pane in self.view.panes if isinstance(pane, LogPane)) if self.view else ()
        return next(iter(found), None)

    @work(group="journal", exclusive=True)
    async def _follow(self, pane: LogPane, host: str, unit: str, lines: int) -> None:
        await asyncio.sleep(SETTLE_SECONDS)
        self._shown_run = self._journal_trouble = ""
        pane.show(host, unit)
        self._note(pane)
        while True:
            try:
                async with self.fleet.follow(host, unit, lines=lines) as batches:
                    self._journal_trouble = ""
                    async for batch in batches:
                        pane.append(batch)
            except DflashError as error:
                self._journal_trouble = printable(str(error), limit=200)
                self._note(pane)
            await asyncio.sleep(RETRY_SECONDS)

    @on(messages.OlderWanted)
    @work(group="older", exclusive=True)
    async def _older(self, event: messages.OlderWanted) -> None:
        pane = event.pane
        if isinstance(pane, LogPane):
            try:
                items = await self.fleet.history(event.host, event.unit, lines=PAGE_LINES, before=event.before_cursor)
            except DflashError as error:
                self.notify(printable(str(error)), severity="warning", markup=False)
                return
            if (pane.host, pane.unit) == (event.host, event.unit):
                pane.prepend(items)

    @on(messages.RangeWanted)
    @work(group="older", exclusive=True)
    async def _range(self, event: messages.RangeWanted) -> None:
        """Count how far back the range reaches, then follow from there."""
        if not isinstance(event.pane, LogPane):
            return
        try:
            lines = await self._lines_of(event)
        except DflashError as error:
            self.notify(printable(str(error)), severity="warning", markup=False)
            return
        self._follow(event.pane, event.host, event.unit, lines)
        self.notify(f"{event.wanted.words}: {lines} lines", markup=False, timeout=3)

    async def _lines_of(self, event: messages.RangeWanted) -> int:
        snapshot = self.newest.host(event.host)
        unit = snapshot.unit(event.unit) if snapshot else None
        run = unit.invocation_id if unit else None
        now, seconds = self.clock(), event.wanted.seconds
        if event.wanted is Range.TAIL:
            return FIRST_LINES
        if seconds is not None:
            return await self._count_back(event.host, event.unit, lambda item: _age(item, now) <= seconds)
        return await self._count_back(event.host, event.unit, lambda item: _is_of_run(item, run))

    async def _count_back(self, host: str, unit: str, belongs: Callable[[JournalItem], bool]) -> int:
        """How many of the newest items belong together, at most `MOST_LINES`."""
        count, before = 0, None
        while count < MOST_LINES:
            page = await self.fleet.history(host, unit, lines=PAGE_LINES, before=before)
            fitting = next((place for place, item in enumerate(reversed(page)) if not belongs(item)), len(page))
            count += fitting
            cursors = [item.cursor for item in page if item.cursor]
            if fitting < len(page) or not cursors:
                break
            before = cursors[0]
        return max(1, min(count, MOST_LINES))

    async def show_since(self, seconds: float) -> None:
        """The log of the last so many seconds, then live. Raises `DflashError`."""
        pane, now = self.log_pane, self.clock()
        if pane is not None and pane.unit:
            count = await self._count_back(pane.host, pane.unit, lambda item: _age(item, now) <= seconds)
            self._follow(pane, pane.host, pane.unit, count)

    async def show_run_before(self, subject: Subject) -> None:
        """The log of the run before this one, without following."""
        pane = self.log_pane
        unit = self.newest.unit(subject)
        if pane is None or unit is None:
            return
        page = await self.fleet.history(subject.host, subject.name, lines=MOST_LINES // 4)
        runs = [item.invocation_id for item in page if isinstance(item, JournalEntry) and item.invocation_id]
        before = next((run for run in reversed(runs) if run != unit.invocation_id), None)
        if before is None:
            self.notify("no earlier run in the last lines of the journal", severity="warning", markup=False)
            return
        items = await self.fleet.history(subject.host, subject.name, lines=MOST_LINES, invocation_id=before)
        self.workers.cancel_group(self, "journal")
        self._followed = (pane, subject.host, subject.name)
        pane.show(subject.host, subject.name, items)
        self._shown_run = f"run before this one, {human_span(_age(items[-1], self.clock()))} ago" if items else ""
        self._note(pane)

    def show_run(self, subject: Subject, items: Sequence[JournalItem], words: str) -> None:
        """These items of one run in the log pane, without following."""
        pane = self.log_pane
        if pane is not None:
            self.workers.cancel_group(self, "journal")
            self._followed = (pane, subject.host, subject.name)
            pane.show(subject.host, subject.name, items)
            self._shown_run = words
            self._note(pane)

    @on(messages.EntryOpened)
    def _open_entry(self, event: messages.EntryOpened) -> None:
        fields = event.entry.model_dump(mode="json")
        message = str(fields.pop("message"))
        lines = (
            *facts(*((name, foreign(str(value))) for name, value in fields.items() if value is not None)),
            cell(""),
            *(cell(printable(line)) for line in message.splitlines()),
        )
        self.app.push_screen(TextScreen(cell("journal entry", "strong"), {"fields": lines}, "fields"))

    @on(messages.CopyWanted)
    def _copy_line(self, event: messages.CopyWanted) -> None:
        self.copy(event.text)


def _age(item: JournalItem, now: datetime) -> float:
    return (now - item.at).total_seconds()


def _is_of_run(item: JournalItem, run: str | None) -> bool:
    return not isinstance(item, JournalEntry) or item.invocation_id in {None, run}
