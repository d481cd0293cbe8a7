"""The log pane: one unit's journal, followed and searched."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.actions import SkipAction
from textual.containers import Vertical
from textual.content import Content
from textual.reactive import reactive

from dflashtui.tui.log import messages
from dflashtui.tui.log.intake import Intake
from dflashtui.tui.log.keys import LOG_KEYS
from dflashtui.tui.log.lines import LogLines
from dflashtui.tui.log.model import LogModel
from dflashtui.tui.log.pattern import Pattern
from dflashtui.tui.log.prompt import LogPrompt
from dflashtui.tui.log.ranges import Range
from dflashtui.tui.log.saving import plain
from dflashtui.tui.log.title import empty_words, name_of, title

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime, tzinfo

    from textual.app import ComposeResult
    from textual.binding import BindingType
    from textual.timer import Timer

    from dflashtui.model.journal import JournalItem

DRAW_SECONDS = 0.1


class LogPane(Vertical):
    """Shows what it is given; what it wants goes up as a message of `dflashtui.tui.log.messages`."""

    HELP = """Follows the newest line. Moving up pauses, `G` catches up at once.

`/` searches, `&` shows only lines that match (`!word`: that do not), `L` hides what is less bad, `e` finds errors.

Signs at the left: `×` error, `▲` warning, `│` part of a traceback, `▸` said by systemd, `━` a gap.
No text of a host gets there."""
    DEFAULT_CSS = "LogPane { height: 1fr; }"
    BINDINGS: ClassVar[list[BindingType]] = [*LOG_KEYS]

    note: reactive[str] = reactive("")
    """Said in the title: `no contact 3m`, why the journal cannot be read. Text from hosts may be in it."""

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
        self._model = LogModel()
        self._lines = LogLines(self._model, zone)
        self._prompt = LogPrompt()
        self._intake = Intake()
        self._timer: Timer | None = None
        self._older_asked: str | None = None
        self._has_start = False

    def compose(self) -> ComposeResult:
        """Lines, and the prompt while it is used."""
        yield self._lines
        yield self._prompt

    def on_mount(self) -> None:
        """Say what it is."""
        self._tell()

    def show(self, host: str, unit: str, items: Sequence[JournalItem] = ()) -> None:
        """Show the journal of a unit from its newest line on; level, filter and looks stay as they were."""
        self.host, self.unit = host, unit
        self.clear()
        self._model.append(items)
        self._settle()

    def append(self, items: Sequence[JournalItem]) -> None:
        """Newer items; drawn at most ten times a second."""
        self._intake.put(items)
        if self._timer is None and self.is_running:
            self._take_in()
            self._timer = self.set_interval(DRAW_SECONDS, self._tick)

    def prepend(self, items: Sequence[JournalItem]) -> None:
        """The answer to `OlderWanted`; empty: there is nothing older."""
        self._older_asked = None
        self._has_start = self._has_start or not items
        rows = self._model.prepend(items)
        self._lines.settle(rows_added_above=rows)
        self._tell()

    def tell_start(self, invocation_id: str, started_at: datetime) -> None:
        """When a run began whose start is not among the lines; for the times since start. After `show`."""
        self._model.buffer.starts[invocation_id] = started_at
        self._lines.renew()

    def clear(self) -> None:
        """Forget all lines."""
        self._intake.clear()
        self._model.clear()
        self._older_asked = None
        self._has_start = False
        self._settle()

    def items_shown(self) -> tuple[JournalItem, ...]:
        """What is shown now, oldest first, one for each row: for saving as JSON."""
        return tuple(record.item for record in self._model.view.records if record.item is not None)

    def text_shown(self) -> str:
        """What is shown now as plain text with UTC times: for saving."""
        return "".join(f"{plain(record)}\n" for record in self._model.view.records)

    @property
    def is_following(self) -> bool:
        """Whether it stays with the newest line."""
        return self._model.is_following

    @property
    def is_drawing(self) -> bool:
        """Whether lines came a moment ago; at rest no timer runs."""
        return self._timer is not None

    def focus_lines(self) -> None:
        """Give the keys to the lines."""
        self._lines.focus()

    def watch_note(self) -> None:
        """Say it."""
        self._tell()

    def _tick(self) -> None:
        if self._intake or self._intake.dropped_count:
            self._take_in()
        elif self._timer is not None:
            self._timer.stop()
            self._timer = None

    def _take_in(self) -> None:
        count, at = self._intake.take_dropped()
        if count and at:
            self._model.skip(count, at)
        self._model.append(self._intake.take())
        self._settle()

    def _settle(self) -> None:
        self._lines.settle()
        self._tell()

    def _tell(self) -> None:
        name = name_of(self.host, self.unit) if self.unit else ""
        words = Content(f" {title(name, self._model, self._lines.stamp, self.note)} ")
        if self.border_title != words:
            self.border_title = words
        self._lines.empty_words = empty_words(self._model, name, self.note)

    def _moved(self) -> None:
        self._lines.show_cursor()
        self._tell()

    def on_log_lines_moved(self) -> None:
        """By wheel, scroll bar or click."""
        self._tell()

    def on_log_lines_entered(self) -> None:
        """By a double click."""
        self.action_open()

    def on_log_lines_top_reached(self) -> None:
        """Ask for what is older, once."""
        cursor = self._model.buffer.oldest_cursor
        if cursor and not self._has_start and self._older_asked != cursor:
            self._older_asked = cursor
            self.post_message(messages.OlderWanted(self, self.host, self.unit, cursor))

    def on_log_prompt_typed(self, event: LogPrompt.Typed) -> None:
        """Search or filter as it is typed."""
        pattern = Pattern(event.text) if event.text else None
        if event.kind == "&":
            self._model.narrow(pattern)
        else:
            self._model.search(pattern)
            if pattern is not None:
                self._model.nearest_hit()
        self._lines.renew()
        self._moved()

    def on_log_prompt_closed(self) -> None:
        """Keys go to the lines again."""
        self._lines.focus()

    def action_prompt(self, kind: str) -> None:
        """Open the line for a search (`/`) or a filter (`&`)."""
        before = self._model.view.query if kind == "/" else self._model.view.pattern
        self._prompt.open(kind, before.text if before else "")

    def action_follow(self) -> None:
        """Follow, or stay."""
        if self._model.is_following:
            self._model.pause()
        else:
            self._model.follow()
        self._settle()

    def action_now(self) -> None:
        """To the newest line, and follow."""
        self._model.follow()
        self._settle()

    def action_first(self) -> None:
        """To the oldest line that is kept."""
        self.action_step(-len(self._model.view.records))

    def action_step(self, by: int) -> None:
        """Up or down by entries."""
        before = self._model.cursor
        self._model.step(by)
        self._moved()
        if by < 0 and (before is self._model.cursor or self._lines.scroll_offset.y == 0):
            self.on_log_lines_top_reached()

    def action_page(self, part: float) -> None:
        """By a part of what is visible."""
        here = self._model.cursor
        if here is not None:
            view = self._model.view
            row = view.row_of(here) + round(part * self._lines.size.height)
            target = view.rows[max(0, min(row, len(view.rows) - 1))].record
            self.action_step(view.place(target.seq) - view.place(here.seq))

    def action_hit(self, way: int) -> None:
        """To another match."""
        self._model.next_hit(way)
        self._moved()

    def action_error(self, way: int) -> None:
        """To another error."""
        self._model.next_error(way)
        self._moved()

    def action_mark(self) -> None:
        """Mark the line."""
        self._model.mark()
        self._lines.refresh()

    def action_next_mark(self) -> None:
        """To the next marked line."""
        self._model.next_mark()
        self._moved()

    def action_level(self) -> None:
        """Hide the least bad lines."""
        self._model.show_level()
        self._moved()

    def action_wrap(self) -> None:
        """Wrap, or cut at the edge."""
        self._lines.is_wrapped = not self._lines.is_wrapped
        self._lines.renew()
        self._moved()

    def action_stamp(self) -> None:
        """Another kind of time."""
        self._lines.stamp = self._lines.stamp.next()
        self._lines.renew()
        self._moved()

    def action_colours(self) -> None:
        """The service's own colours, or none."""
        self._lines.keeps_colours = not self._lines.keeps_colours
        self._lines.renew()

    def action_shift(self, way: int) -> None:
        """Further right or left."""
        self._lines.shift(way)

    def action_range(self, key: str) -> None:
        """Another part of the journal."""
        if self.unit:
            self.post_message(messages.RangeWanted(self, self.host, self.unit, Range(key)))

    def action_open(self) -> None:
        """All fields of the entry."""
        here = self._model.cursor
        if here is not None and here.entry is not None:
            self.post_message(messages.EntryOpened(self, self.host, self.unit, here.entry))

    def action_copy(self) -> None:
        """The line, or what is selected."""
        here = self._model.cursor
        selected = self.screen.get_selected_text()
        text = selected or ("\n".join(here.texts) if here else "")
        if text:
            self.post_message(messages.CopyWanted(self, self.host, self.unit, text))

    def action_back(self) -> None:
        """One step back: search, filter, level; then it is the screen's key."""
        view = self._model.view
        if view.query is not None:
            self._model.search(None)
        elif view.pattern is not None:
            self._model.narrow(None)
        elif view.limit is not None:
            self._model.show_all_levels()
        else:
            raise SkipAction
        self._lines.renew()
        self._moved()
