"""The log pane's ways from line to line."""

from __future__ import annotations

from textual.actions import SkipAction

from dflashtui.tui.log import messages
from dflashtui.tui.log.pane_base import LogBase


class Moving(LogBase):
    """Everything that moves the cursor."""

    @property
    def is_following(self) -> bool:
        """Whether it stays with the newest line."""
        return self._model.is_following

    def focus_lines(self) -> None:
        """Give the keys to the lines."""
        self._lines.focus()

    def on_log_lines_moved(self) -> None:
        """By wheel, scroll bar or click."""
        self._tell()
        self._look_for_holes()

    def on_log_lines_top_reached(self) -> None:
        """Ask for what is older, once."""
        cursors = tuple(self._model.buffer.oldest_cursors().values())
        if cursors and not self._has_start and self._older_asked != cursors:
            self._older_asked = cursors
            self.post_message(messages.OlderWanted(self, self.host, self.unit, cursors[0]))

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
        self._has_start = False
        self._settle()

    def action_first(self) -> None:
        """To the oldest line that is kept."""
        self.action_step(-len(self._model.view.records))

    def action_step(self, by: int) -> None:
        """Up or down by entries."""
        before = self._model.cursor
        self._way = 1 if by > 0 else -1
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

    def _go(self, what: str, *, found: bool) -> None:
        """Show where the cursor went, or say that there was nothing."""
        if not found:
            self.notify(f"no {what} among the lines that are shown", markup=False, timeout=3)
        self._moved()

    def action_hit(self, way: int) -> None:
        """To another match."""
        if self._model.view.query is None:
            self.notify("nothing is searched for; / begins", markup=False, timeout=3)
            return
        self._go("match", found=self._model.next_hit(way))

    def action_error(self, way: int) -> None:
        """To another error."""
        self._go("error", found=self._model.next_error(way))

    def action_exception(self, way: int) -> None:
        """To another traceback, all of it selected; where there is none the key is the screen's (the crash card)."""
        if not self._model.next_exception(way):
            raise SkipAction
        self._moved()

    def action_mark(self) -> None:
        """Mark the line."""
        self._model.mark()
        self._lines.refresh()

    def action_next_mark(self) -> None:
        """To the next marked line."""
        self._go("mark", found=self._model.next_mark())

    def action_bucket(self, way: int) -> None:
        """To the next part of the histogram."""
        record = self._histogram.beside(way)
        if record is not None:
            self._way = way
            self._model.put(record)
            self._moved()
