"""The main screen's frame: header, views, footer, and the beat at which values are drawn."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from textual import on
from textual.containers import Container
from textual.css.query import NoMatches
from textual.screen import Screen
from textual.widgets import Static

from dflashtui.model.event import Event, EventKind, Severity
from dflashtui.text import printable
from dflashtui.tui.bar import Bar
from dflashtui.tui.beat import Beat
from dflashtui.tui.copying import MOST_BYTES
from dflashtui.tui.feed import Feed
from dflashtui.tui.header import footer_left, footer_right, header_left, header_right
from dflashtui.tui.keys import shown_key
from dflashtui.tui.listing.widget import RowList
from dflashtui.tui.messages import HostChanged
from dflashtui.tui.places import Way
from dflashtui.tui.styled import measured

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from textual import events
    from textual.app import ComposeResult

    from dflashtui.config.model import Config
    from dflashtui.fleet.base import Fleet
    from dflashtui.tui.app import Options
    from dflashtui.tui.picture import Picture
    from dflashtui.tui.views.base import View

MIN_COLUMNS, MIN_LINES = 40, 8
LOW_LINES = 15


class Shell(Screen[None]):
    """Header, one view at a time, footer."""

    CSS_PATH = ["console.tcss", "log/log.tcss"]  # noqa: RUF012 - Textual declares it so
    HORIZONTAL_BREAKPOINTS = [  # noqa: RUF012 - Textual declares it so
        (0, "-w40"), (60, "-w60"), (80, "-w80"), (100, "-w100"), (160, "-w160"),
    ]  # fmt: skip
    VERTICAL_BREAKPOINTS = [(0, "-low"), (LOW_LINES, "-high")]  # noqa: RUF012 - Textual declares it so

    def __init__(self, config: Config, fleet: Fleet, options: Options, clock: Callable[[], datetime]) -> None:
        super().__init__()
        self.config = config
        self.fleet = fleet
        self.options = options
        self.clock = clock
        self.way = Way()
        self.frozen_since: datetime | None = None
        self.feed = Feed(
            [fleet.snapshot(name) for name in fleet.names],
            is_demo=fleet.is_demo,
            read_only=options.read_only,
            has_inventory=config.path is not None or fleet.is_demo,
        )
        self._views: dict[str, View] = {}
        self._beat = Beat(self, self.draw)
        self._drawn_picture: Picture | None = None

    def compose(self) -> ComposeResult:
        """The frame; views come when they are first entered."""
        yield Bar(id="header")
        yield Container(id="body")
        yield Bar(id="footer")
        yield Static(id="too-small", markup=False)

    async def on_mount(self) -> None:
        """Begin to draw."""
        self.bindings_updated_signal.subscribe(self, self._draw_footer)

    def warn(self, words: str) -> None:
        """Something of this machine's own: a toast, and an event."""
        self.tell(Event(at=self.clock(), kind=EventKind.CONSOLE, severity=Severity.WARN, message=words))
        self.notify(printable(words), severity="warning", markup=False, timeout=8)

    @property
    def picture(self) -> Picture:
        """What is on screen: while frozen, what was on screen then."""
        if self.frozen_since is not None and self._drawn_picture is not None:
            return replace(self._drawn_picture, frozen_since=self.frozen_since)
        return self.feed.picture(self.clock())

    @property
    def newest(self) -> Picture:
        """What is known now, frozen or not: questions and changes are about this."""
        return self.feed.picture(self.clock())

    def tell(self, event: Event) -> None:
        """One more event for the events view."""
        self.feed.tell(event)
        self._beat.event()

    @property
    def view(self) -> View | None:
        """The view that is shown."""
        return self._views.get(self.way.here.view)

    @on(HostChanged)
    def _take(self, message: HostChanged) -> None:
        message.stop()
        self.feed.take(message.change)
        if message.change.events:
            self._beat.event()
        else:
            self._beat.sample()
        if self.config.console.bell == "on-bad" and any(
            event.severity is Severity.BAD for event in message.change.events
        ):
            self.app.bell()

    def copy(self, text: str) -> None:
        """Hand text to the terminal by OSC 52; say what and how much, or why not."""
        size = len(text.encode())
        if size > MOST_BYTES:
            words = f"not copied: {size} bytes, terminals take about {MOST_BYTES} by OSC 52"
            self.notify(words, severity="warning", markup=False)
            return
        self.app.copy_to_clipboard(text)
        self.notify(f"copied {len(text)} characters: {printable(text, limit=60)}", markup=False, timeout=3)

    def draw(self) -> None:
        """Hand the newest picture to the view, unless the console is frozen."""
        picture = self.picture
        if self.view is not None:
            self.view.picture = picture
        self._drawn_picture = picture
        self._draw_header(picture)
        self._beat.drawn()

    def _draw_header(self, picture: Picture) -> None:
        header, footer = self.query_one("#header", Bar), self.query_one("#footer", Bar)
        header.right = header_right(picture)
        header.left = header_left(picture, self.place_words, self.size.width - measured(header.right) - 2)
        header.set_class(self._is_protected(picture), "-protected")
        footer.right = footer_right(picture, self.hosts_in_view)

    @property
    def hosts_in_view(self) -> tuple[str, ...]:
        """The hosts that are looked at now."""
        subject = self.way.here.subject
        return (subject.host,) if self.way.here.view == "host" and subject is not None else self.fleet.names

    def _is_protected(self, picture: Picture) -> bool:
        """Whether everything that is looked at is protected: production looks different."""
        looked_at = [host for host in picture.hosts if host.name in self.hosts_in_view]
        return bool(looked_at) and all(host.protected for host in looked_at)

    def _draw_footer(self, _screen: object = None) -> None:
        shown = {}
        for active in self.active_bindings.values():
            binding = active.binding
            if binding.show and active.enabled and binding.action not in shown:
                shown[binding.action] = (shown_key(binding.key), binding.description)
        try:
            footer = self.query_one("#footer", Bar)
        except NoMatches:
            return  # asked for before the frame is there
        footer.left = footer_left(shown.values(), self.size.width - measured(footer.right) - 2)

    @property
    def place_words(self) -> str:
        """Where we are, for the header."""
        subject = self.way.here.subject
        return (
            f"{self.way.here.view} {subject.host}" if subject and self.way.here.view == "host" else self.way.here.view
        )

    @on(RowList.Moved)
    def _row_changed(self) -> None:
        """Another row: other keys work, other details are shown."""
        self.refresh_bindings()
        if self.view is not None and self._drawn_picture is not None:
            self.view.row_changed(self._drawn_picture)
        self.follow_row()

    def follow_row(self) -> None:
        """Logs follow the row."""

    def on_resize(self, event: events.Resize) -> None:
        """Too small to be of use: say what is needed."""
        width, height = event.size
        too_small = width < MIN_COLUMNS or height < MIN_LINES
        self.set_class(too_small, "-tiny")
        if too_small:
            demo = "DEMO · " if self.fleet.is_demo else ""
            need = f"{MIN_COLUMNS}×{MIN_LINES} is needed; dflashtui --check prints text"
            words = f"{demo}{width}×{height} is too small: {need}"
            self.query_one("#too-small", Static).update(words)
        elif self._drawn_picture is not None:
            self._draw_header(self._drawn_picture)
            self._draw_footer()
