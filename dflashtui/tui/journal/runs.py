"""The runs of a unit: listed, shown, and compared."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING

from textual import on, work

from dflashtui.errors import DflashError
from dflashtui.model.journal_query import JournalQuery
from dflashtui.ops.runs import RUN_IDS, UNTOLD, compared, runs_of
from dflashtui.text import human_span, printable
from dflashtui.tui.details.parts import heading
from dflashtui.tui.dialogs.menu import Choice, Menu
from dflashtui.tui.dialogs.text import TextScreen
from dflashtui.tui.journal.moments import Moments
from dflashtui.tui.journal.paging import cursor_of
from dflashtui.tui.log import messages
from dflashtui.tui.log.record import Source
from dflashtui.tui.log.title import name_of
from dflashtui.tui.log.widget import LogPane
from dflashtui.tui.styled import Cell, cell

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from dflashtui.model.journal import JournalEntry, JournalItem
    from dflashtui.ops.runs import Comparison, Run

LISTED_LINES = 400
RUN_LINES = 10_000
BEFORE_START = timedelta(seconds=1)
"""A process may write before the manager tells of the start."""
LETTERS = "123456789abdefghijklmnopqrstuvwxyz"
SHOW, COMPARE = "show", "compare"


class Runs(Moments):
    """What a unit did before."""

    @on(messages.RunsWanted)
    @work(group="runs", exclusive=True)
    async def _list_runs(self, event: messages.RunsWanted) -> None:
        source, pane = Source(event.host, event.unit), event.pane
        try:
            items = await self.page(source, JournalQuery(lines=LISTED_LINES, message_ids=RUN_IDS))
            await self._choose(pane, source, runs_of(items))
        except DflashError as error:
            self.complain(error)

    async def _choose(self, pane: object, source: Source, runs: tuple[Run, ...]) -> None:
        name = name_of(source.host, source.unit)
        if not runs:
            self.notify(f"the journal tells of no start of {name}", markup=False)
            return
        choices = tuple(
            Choice(letter, clock(run.started_at), run_words(run, self.clock()), run.invocation_id)
            for letter, run in zip(LETTERS, runs, strict=False)
        )
        chosen = await self.app.push_screen_wait(Menu(cell(f"runs of {name}", "strong"), choices))
        run = next((one for one in runs if one.invocation_id == chosen), None)
        if run is None:
            return
        before = [one for one in runs if one.started_at < run.started_at]
        good = next((one for one in before if one.is_good), None) or next(iter(before), None)
        if await self._what(run, good) == COMPARE and good is not None:
            await self._compare(source, run, good)
        elif isinstance(pane, LogPane):
            await self._show(pane, source, run)

    async def _what(self, run: Run, good: Run | None) -> str | None:
        show = Choice("s", "show", "the log of this run", SHOW)
        words = f"with the run of {clock(good.started_at)}, {result_words(good)}" if good else ""
        choices = (show, *((Choice("c", "compare", words, COMPARE),) if good else ()))
        return await self.app.push_screen_wait(Menu(cell(f"run of {clock(run.started_at)}", "strong"), choices))

    async def _show(self, pane: LogPane, source: Source, run: Run) -> None:
        items = await self._lines(source, run)
        self.workers.cancel_group(self, "journal")
        self._followed = pane, (source,)
        pane.show(source.host, source.unit, items)
        pane.tell_start(run.invocation_id, run.started_at)
        self._shown_run = f"run of {clock(run.started_at)}, {run_words(run, self.clock())}"
        self._note(pane)

    async def _compare(self, source: Source, run: Run, good: Run) -> None:
        ours, theirs = await asyncio.gather(self._begin(source, run), self._begin(source, good))
        found = await asyncio.to_thread(compared, ours, theirs)
        title: Cell = ((name_of(source.host, source.unit), "strong"), (f" · run of {clock(run.started_at)}", ""))
        self.app.push_screen(TextScreen(title, dict(pages_of(found, run, good)), "what is new"))

    async def _lines(self, source: Source, run: Run) -> tuple[JournalItem, ...]:
        return await self.page(source, JournalQuery(lines=RUN_LINES, invocation_id=run.invocation_id))

    async def _begin(self, source: Source, run: Run) -> tuple[JournalItem, ...]:
        """A run's first lines: runs part near their starts, and a long one has more lines than are read."""
        asked = JournalQuery(lines=RUN_LINES, invocation_id=run.invocation_id)
        first = await self.page(source, asked.model_copy(update={"since": run.started_at - BEFORE_START}))
        last = cursor_of(first, last=True)
        if last is None or len(first) >= RUN_LINES:
            return first
        rest = {"after": last, "lines": RUN_LINES - len(first)}
        return (*first, *await self.page(source, asked.model_copy(update=rest)))


def clock(at: datetime) -> str:
    """`12-01 03:00:09`, by the console's clock."""
    return f"{at.astimezone():%m-%d %H:%M:%S}"


def result_words(run: Run) -> str:
    """Whether it may serve as a model."""
    return "the last good one" if run.is_good else "the one before; none was good"


def run_words(run: Run, now: datetime) -> str:
    """`42s, exit-code (exited 1/FAILURE)`."""
    if run.result == UNTOLD:
        return UNTOLD
    if run.ended_at is None:
        return f"for {human_span((now - run.started_at).total_seconds())}, goes on"
    status = f" ({printable(run.status)})" if run.status else ""
    result = printable(run.result or "ended")
    return f"{human_span((run.ended_at - run.started_at).total_seconds())}, {result}{status}"


def pages_of(found: Comparison, run: Run, good: Run) -> Iterator[tuple[str, tuple[Cell, ...]]]:
    """What differs, on pages."""
    against = f"against the run of {clock(good.started_at)}; numbers, addresses, ids and times do not count"
    bound = f"of each run the first {RUN_LINES} lines at most are compared"
    yield (
        "what is new",
        (
            cell(f"{len(found.new)} kinds of line are new, {against}", "dim"),
            cell(bound, "dim"),
            *_parting(found, run),
            *(heading("new lines") if found.new else ()),
            *map(_line, found.new),
        ),
    )
    yield (
        "what is missing",
        (cell(f"{len(found.missing)} kinds of line are missing", "dim"), *map(_line, found.missing)),
    )


def _parting(found: Comparison, run: Run) -> Iterator[Cell]:
    yield from heading("where they part")
    if found.part_at is None:
        yield cell("nowhere: every line was said before", "dim")
        return
    after = human_span((found.part_at.at - run.started_at).total_seconds())
    if found.last_common is not None:
        yield (("both  ", "dim"), (_text(found.last_common), ""))
    yield (("this  ", "bad"), (_text(found.part_at), "bad"), (f"  {after} after the start", "dim"))
    if found.expected is not None:
        yield (("other ", "ok"), (_text(found.expected), ""))


def _line(entry: JournalEntry) -> Cell:
    return ((f"{entry.at.astimezone():%H:%M:%S} ", "dim"), (_text(entry), ""))


def _text(entry: JournalEntry) -> str:
    return printable(entry.message.rsplit("\r", 1)[-1], limit=500)
