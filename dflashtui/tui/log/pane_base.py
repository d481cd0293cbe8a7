"""What every part of the log pane uses: the model, the lines, the prompt, and what the title says."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from textual.containers import Vertical
from textual.content import Content
from textual.reactive import reactive

from dflashtui.tui.log import messages
from dflashtui.tui.log.columns import columns_of, source_name
from dflashtui.tui.log.histogram import Histogram
from dflashtui.tui.log.intake import Intake
from dflashtui.tui.log.lines import LogLines
from dflashtui.tui.log.model import LogModel
from dflashtui.tui.log.prompt import LogPrompt
from dflashtui.tui.log.record import Source
from dflashtui.tui.log.times import Stamp
from dflashtui.tui.log.title import empty_words, name_of, title

if TYPE_CHECKING:
    from datetime import tzinfo

    from textual.app import ComposeResult
    from textual.timer import Timer

    from dflashtui.tui.log.record import Record


def utc_now() -> datetime:
    """The console's own clock."""
    return datetime.now(UTC)


class LogBase(Vertical):
    """Shows what it is given; what it wants goes up as a message of `dflashtui.tui.log.messages`."""

    DEFAULT_CSS = "LogBase { height: 1fr; }"

    note: reactive[str] = reactive("")
    """Said in the title: `no contact 3m`, why the journal cannot be read. Text from hosts may be in it."""
    progress: reactive[str] = reactive("")
    """Said in the title while something is fetched that can be cancelled."""

    def __init__(
        self,
        *,
        zone: tzinfo | None = None,
        id: str | None = None,  # noqa: A002 - Textual's own name
        classes: str | None = None,
    ) -> None:
        """`zone`: of the clock; `None`: the console's own."""
        super().__init__(id=id, classes=classes)
        self.host = ""
        self.unit = ""
        self.sources: tuple[Source, ...] = ()
        """Of a merged log; empty: one unit alone."""
        self.has_kernel = False
        self._zone = zone
        self._model = LogModel()
        self._lines = LogLines(self._model, zone)
        self._histogram = Histogram(self._model, zone)
        self._prompt = LogPrompt()
        self._intake = Intake()
        self._timer: Timer | None = None
        self._gave_way = False
        self._clock_timer: Timer | None = None
        self._older_asked: tuple[str, ...] = ()
        self._hole_asked: tuple[Record, int] | None = None
        self._has_start = False
        self._way = -1
        """Where a person went last: up (-1) or down (1)."""

    def compose(self) -> ComposeResult:
        """Lines, the histogram and the prompt while they are used."""
        yield self._lines
        yield self._histogram
        yield self._prompt

    def on_mount(self) -> None:
        """Say what it is."""
        self._tell()

    @property
    def place(self) -> Source:
        """The unit that is shown; of a merged log, the first one."""
        return Source(self.host, self.unit)

    @property
    def name_words(self) -> str:
        """For the title."""
        if self.sources:
            hosts = {source.host for source in self.sources}
            units = {source.unit for source in self.sources if not source.kernel}
            first = source_name(Source("", next(iter(units), "")), with_host=False, with_unit=True)
            kernel = " + kernel" if self.has_kernel else ""
            if len(units) == 1 and len(hosts) == 1:
                return f"{name_of(self.host, self.unit)}{kernel}"
            what = first if len(units) == 1 else f"{len(units)} units"
            return f"{what} on {len(hosts)} {'host' if len(hosts) == 1 else 'hosts'}{kernel}"
        return name_of(self.host, self.unit) if self.unit else ""

    def watch_note(self) -> None:
        """Say it."""
        self._tell()

    def watch_progress(self) -> None:
        """Say it."""
        self._tell()

    def _settle(self) -> None:
        self._lines.settle()
        self._histogram.refresh_if_shown()
        self._tell()

    def _tell(self) -> None:
        name = self.name_words
        note = " · ".join(filter(None, (self.progress, self.note)))
        words = Content(f" {title(name, self._model, self._lines.stamp, note)} ")
        if self.border_title != words:
            self.border_title = words
        self._lines.empty_words = empty_words(self._model, name, self.note)

    def _moved(self) -> None:
        self._lines.show_cursor()
        self._histogram.refresh_if_shown()
        self._tell()
        self._look_for_holes()

    def _renew(self) -> None:
        """Another way of drawing."""
        self._lines.columns = columns_of(self.sources, self._process_names(), has_processes=self.hides_prefixes)
        self._lines.now = utc_now() if self._lines.stamp is Stamp.AGO else None
        self._lines.renew()
        self._moved()

    @property
    def hides_prefixes(self) -> bool:
        """Whether process names stand in a column of their own."""
        return self._model.view.hides_prefixes

    def _process_names(self) -> set[str]:
        return {record.process for record in self._model.buffer.records} if self.hides_prefixes else set()

    def _look_for_holes(self) -> None:
        """Ask for what is missing in view, once for each state of the hole."""
        if self._model.is_following:
            return
        hole = next((record for record in self._lines.seen if record.is_hole), None)
        if hole is None or self._hole_asked == (hole, hole.count):
            return
        self._hole_asked = hole, hole.count
        around = self._model.buffer.around(hole)
        here = self._model.cursor
        from_below = here is not None and (here.seq > hole.seq or (here is hole and self._way < 0))
        from_below = from_below and around[1] is not None
        if around[0] is not None or from_below:
            place = hole.source or self.place
            self.post_message(messages.HoleReached(self, place, hole, around, from_below=from_below))
