"""Fetches what a log pane does not have: older pages, and lines that were let go."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from textual import on, work

from dflashtui.errors import DflashError
from dflashtui.model.journal_query import JournalQuery
from dflashtui.source.kernel import MATTERS
from dflashtui.text import printable
from dflashtui.tui.journal.following import Following, what_matters
from dflashtui.tui.log import messages
from dflashtui.tui.log.holes import newer_part, older_part
from dflashtui.tui.log.merging import merged_older
from dflashtui.tui.log.record import Source
from dflashtui.tui.log.widget import LogPane

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dflashtui.model.journal import JournalItem

PAGE_LINES = 500


class Paging(Following):
    """Answers the panes' wishes for more lines."""

    async def page(self, source: Source, query: JournalQuery) -> tuple[JournalItem, ...]:
        """A page of one journal; of the kernel's, the lines that matter. Raises `DflashError`."""
        if source.kernel and query.grep is None:
            query = query.model_copy(update={"grep": MATTERS.pattern})
        return what_matters(source, await self.fleet.journal_page(source.host, source.unit, query))

    def complain(self, error: Exception) -> None:
        """Say why something could not be fetched."""
        self.notify(printable(str(error), limit=300), severity="warning", markup=False)

    @on(messages.OlderWanted)
    @work(group="older", exclusive=True)
    async def _older(self, event: messages.OlderWanted) -> None:
        pane = event.pane
        if not isinstance(pane, LogPane):
            return
        place = (pane.host, pane.unit, pane.sources)
        try:
            if pane.sources:
                await self._older_of_all(pane)
            else:
                query = JournalQuery(lines=PAGE_LINES, before=event.before_cursor)
                items = await self.page(pane.place, query)
                if place == (pane.host, pane.unit, pane.sources):
                    pane.prepend(items)
        except DflashError as error:
            pane.could_not_fill()
            self.complain(error)

    async def _older_of_all(self, pane: LogPane) -> None:
        """Of each source what stands before its own oldest line, or before all lines if it has none."""
        sources, cursors, oldest = pane.sources, pane.oldest_cursors, pane.oldest_at
        queries = (
            JournalQuery(lines=PAGE_LINES, before=cursors.get(source), until=None if source in cursors else oldest)
            for source in sources
        )
        fetched = await asyncio.gather(*map(self.page, sources, queries))
        older = merged_older(dict(zip(sources, fetched, strict=True)), PAGE_LINES)
        if pane.sources == sources:
            pane.prepend(older.items, older.sources)

    @on(messages.HoleReached)
    @work(group="hole", exclusive=True)
    async def _fill_hole(self, event: messages.HoleReached) -> None:
        pane = event.pane
        if not isinstance(pane, LogPane):
            return
        source = Source(event.host, event.unit)
        try:
            if event.from_below and event.before:
                page = await self.page(source, JournalQuery(lines=PAGE_LINES, before=event.before))
                filling = newer_part(page, event.after, PAGE_LINES)
            else:
                page = await self.page(source, JournalQuery(lines=PAGE_LINES, after=event.after))
                filling = older_part(page, event.before)
        except DflashError as error:
            pane.could_not_fill()
            self.complain(error)
            return
        pane.fill(event.hole, filling.items, at_end=event.from_below, is_whole=filling.is_whole)


def cursor_of(items: Sequence[JournalItem], *, last: bool) -> str | None:
    """The first or the last cursor among items."""
    ordered = reversed(items) if last else iter(items)
    return next((item.cursor for item in ordered if item.cursor), None)
