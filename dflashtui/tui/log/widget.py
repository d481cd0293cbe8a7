"""The log pane: one unit's journal, or several in one stream, followed and searched."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, ClassVar

from dflashtui.tui.garbage import TidiesWhenQuiet
from dflashtui.tui.log.keys import LOG_KEYS
from dflashtui.tui.log.taking import Taking

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from textual.binding import BindingType

    from dflashtui.model.journal import JournalItem
    from dflashtui.tui.log.record import Record, Source, SourcedItem

DRAW_SECONDS = 0.1


class LogPane(Taking):
    """Shows what it is given; what it wants goes up as a message of `dflashtui.tui.log.messages`."""

    HELP = """Follows the newest line. Moving up pauses, `G` catches up at once. Older lines are fetched as you go up.

`/` searches (`S`: further back on the host), `&` shows only lines that match (`!word`: that do not; again: one more),
`L` hides what is less bad, `o` shows one process, `e` finds errors, `x` exceptions. `@` goes to a time in every log.

`r` lists the runs and compares two, `i` shows lines and errors over time, `z` closes blocks, `V` selects.

Signs at the left: `×` error, `▲` warning, `│` part of a traceback, `▸` said by systemd, `━` a gap.
No text of a host gets there."""
    BINDINGS: ClassVar[list[BindingType]] = [*LOG_KEYS]

    def show(self, host: str, unit: str, items: Sequence[JournalItem] = (), sources: Sequence[Source] = ()) -> None:
        """Show the journal of a unit from its newest line on; level, filter and looks stay as they were.

        `sources`: more than that unit, in one stream.
        """
        self.host, self.unit, self.sources = host, unit, tuple(sources)
        self.has_kernel = any(source.kernel for source in sources)
        self.clear()
        self._model.append(items)
        self._renew()

    def append(self, items: Sequence[JournalItem], source: Source | None = None) -> None:
        """Newer items of one source; drawn at most ten times a second."""
        self.append_merged([(source, item) for item in items])

    def append_merged(self, items: Sequence[SourcedItem]) -> None:
        """Newer items in one order of time."""
        self._intake.put(items)
        if self._timer is None and self.is_running:
            self._take_in()
            self._timer = self.set_interval(DRAW_SECONDS, self._tick)

    def prepend(self, items: Sequence[JournalItem], sources: Sequence[Source | None] = ()) -> None:
        """The answer to `OlderWanted`; empty: there is nothing older."""
        self._older_asked = ()
        self._has_start = self._has_start or not items
        rows = self._model.prepend(items, sources)
        self._lines.settle(rows_added_above=rows)
        self._histogram.refresh_if_shown()
        self._tell()

    def fill(self, hole: Record, items: Sequence[JournalItem], *, at_end: bool, is_whole: bool) -> None:
        """The answer to `HoleReached`: the lines at its newer end, or at its older one."""
        self._model.fill(hole, items, at_end=at_end, is_whole=is_whole)
        self._has_start = self._has_start and at_end
        self._hole_asked = None
        self._lines.renew()
        self._lines.show_cursor()
        self._tell()

    def could_not_fill(self) -> None:
        """Nothing came of it: coming there again asks again."""
        self._hole_asked = None
        self._older_asked = ()

    def show_moment(
        self, items: Sequence[JournalItem], at: datetime, cursor: str | None, sources: Sequence[Source | None] = ()
    ) -> None:
        """Another part of the journal, with the cursor on an entry or at a moment; what comes is counted meanwhile."""
        self._take_in()
        self._older_asked, self._has_start, self._hole_asked = (), False, None
        self._model.move_to(items, cursor, at, sources)
        self._lines.renew()
        self._moved()

    def shows(self, at: datetime) -> bool:
        """Whether that moment is among the lines that are kept; then the cursor goes there."""
        kept = [record for record in self._model.view.records if not record.is_tail]
        if not kept or not kept[0].at <= at:
            return False
        target = next((record for record in kept if record.shown_at >= at), None)
        if target is None and self._model.buffer.tail is not None:
            return False
        self._model.put(target or kept[-1])
        self._moved()
        return True

    def tell_start(self, invocation_id: str, started_at: datetime) -> None:
        """When a run began whose start is not among the lines; for the times since start. After `show`."""
        self._model.buffer.starts[invocation_id] = started_at
        self._lines.renew()

    def clear(self) -> None:
        """Forget all lines."""
        self._intake.clear()
        self._model.clear()
        self._older_asked, self._hole_asked = (), None
        self._has_start = False
        self._settle()

    @property
    def oldest_cursors(self) -> dict[Source | None, str]:
        """Before which nothing is kept, for each source."""
        return self._model.buffer.oldest_cursors()

    @property
    def oldest_at(self) -> datetime | None:
        """When the oldest line that is kept was written."""
        return next((record.at for record in self._model.buffer.records), None)

    @property
    def is_drawing(self) -> bool:
        """Whether lines came a moment ago; at rest no timer runs."""
        return self._timer is not None

    async def _tick(self) -> None:
        if self._gives_way():
            return
        if self._intake or self._intake.dropped_count:
            await self._take_in_by_bites()
        elif self._timer is not None:
            self._timer.stop()
            self._timer = None

    def _gives_way(self) -> bool:
        """To a key whose picture is waited for; the next time lines come first."""
        is_awaited = isinstance(self.app, TidiesWhenQuiet) and self.app.tidying.was_pressed_just_now
        self._gave_way = is_awaited and not self._gave_way
        return self._gave_way

    def _take_in(self) -> None:
        self._tell_dropped()
        self._model.take(self._intake.take())
        self._settle()

    async def _take_in_by_bites(self) -> None:
        """Keys come in between. Where a person reads, nothing moves for a moment: there it is done at once."""
        if not self._model.is_following:
            self._take_in()
            return
        self._tell_dropped()
        for bite in self._intake.bites():
            self._model.take(bite)
            await asyncio.sleep(0)
        self._settle()

    def _tell_dropped(self) -> None:
        count, at = self._intake.take_dropped()
        if count and at:
            self._model.skip(count, at)
