"""The main screen's journals: parts of time, runs, entries, copies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import on, work

from dflashtui.errors import DflashError
from dflashtui.mask import masked
from dflashtui.model.journal import JournalEntry
from dflashtui.text import human_span, printable
from dflashtui.tui.details.parts import facts, foreign
from dflashtui.tui.dialogs.menu import Choice, Menu
from dflashtui.tui.dialogs.text import TextScreen
from dflashtui.tui.journal.following import FIRST_LINES
from dflashtui.tui.journal.paging import PAGE_LINES
from dflashtui.tui.journal.runs import Runs
from dflashtui.tui.log import messages
from dflashtui.tui.log.ranges import Range
from dflashtui.tui.log.record import Source
from dflashtui.tui.log.widget import LogPane
from dflashtui.tui.styled import Cell, cell

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from dflashtui.model.journal import JournalItem
    from dflashtui.tui.subject import Subject

MOST_LINES = 10_000
LETTERS = "123456789abcdefghijklmnoprstuvwxyz"


class Journals(Runs):
    """The part of the screen that reads logs."""

    @on(messages.KernelWanted)
    def _mix_kernel(self, event: messages.KernelWanted) -> None:
        if isinstance(event.pane, LogPane):
            self.toggle_kernel(event.pane)

    @on(messages.ProcessesOffered)
    @work(group="menu", exclusive=True)
    async def _choose_process(self, event: messages.ProcessesOffered) -> None:
        choices = tuple(
            Choice(letter, printable(name, limit=24) or "no name", f"{count} lines", f"={name}")
            for letter, (name, count) in zip(LETTERS, event.counts, strict=False)
        )
        chosen = await self.app.push_screen_wait(Menu(cell("only the lines of", ""), choices))
        if chosen is not None and isinstance(event.pane, LogPane):
            event.pane.show_process(chosen[1:])

    @on(messages.RangeWanted)
    @work(group="older", exclusive=True)
    async def _range(self, event: messages.RangeWanted) -> None:
        """Count how far back the range reaches, then follow from there."""
        if not isinstance(event.pane, LogPane):
            return
        try:
            lines = await self._lines_of(event)
        except DflashError as error:
            self.complain(error)
            return
        self.follow_sources(event.pane, event.pane.sources or (event.pane.place,), lines)
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
            self.follow_sources(pane, pane.sources or (pane.place,), count)

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
        words = f"run before this one, {human_span(_age(items[-1], self.clock()))} ago" if items else ""
        self.show_run(subject, items, words)

    def show_run(self, subject: Subject, items: Sequence[JournalItem], words: str) -> None:
        """These items of one run in the log pane, without following."""
        pane = self.log_pane
        if pane is not None:
            self.workers.cancel_group(self, "journal")
            self._followed = pane, (Source(subject.host, subject.name),)
            pane.show(subject.host, subject.name, items)
            self._shown_run = words
            self._note(pane)

    @on(messages.EntryOpened)
    def _open_entry(self, event: messages.EntryOpened) -> None:
        message = tuple(cell(printable(line)) for line in event.entry.message.splitlines())
        known = event.entry.model_dump(mode="json", exclude={"message"})
        pages = {"fields": (*_facts(known), cell(""), *message), "all fields": ()}
        sheet = TextScreen(cell("journal entry", "strong"), pages, "fields")
        self.app.push_screen(sheet)
        self._fill_fields(sheet, event)

    @work(group="pages", exclusive=True)
    async def _fill_fields(self, sheet: TextScreen, event: messages.EntryOpened) -> None:
        """Every field, from the host."""
        try:
            found = await self.fleet.entry_fields(event.host, event.unit, event.entry.cursor)
            lines = _facts(found) if found else (cell("the host no longer has this entry", "dim"),)
        except DflashError as error:
            lines = (cell(printable(str(error)), "warn"),)
        sheet.fill("all fields", lines)

    @on(messages.CopyWanted)
    def _copy_line(self, event: messages.CopyWanted) -> None:
        self.copy(event.text)


def _facts(fields: Mapping[str, object]) -> tuple[Cell, ...]:
    """Command lines and environments of a host may hold secrets."""
    return tuple(facts(*((name, foreign(masked(str(value)))) for name, value in fields.items() if value is not None)))


def _age(item: JournalItem, now: datetime) -> float:
    return (now - item.at).total_seconds()


def _is_of_run(item: JournalItem, run: str | None) -> bool:
    return not isinstance(item, JournalEntry) or item.invocation_id in {None, run}
