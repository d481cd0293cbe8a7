"""The log pane's looks: times, wrapping, colours, columns, blocks, histogram."""

from __future__ import annotations

from dflashtui.tui.log.narrowing import Narrowing
from dflashtui.tui.log.pane_base import utc_now
from dflashtui.tui.log.times import Stamp

AGO_SECONDS = 1.0


class Looking(Narrowing):
    """How lines are drawn."""

    def action_wrap(self) -> None:
        """Wrap, or cut at the edge."""
        self._lines.is_wrapped = not self._lines.is_wrapped
        self._renew()

    def action_stamp(self) -> None:
        """Another kind of time."""
        self._lines.stamp = self._lines.stamp.next()
        if self._lines.stamp is Stamp.AGO and self._clock_timer is None:
            self._clock_timer = self.set_interval(AGO_SECONDS, self._pass_time)
        self._renew()

    def _pass_time(self) -> None:
        """Times ago grow; no timer runs for the other kinds."""
        if self._lines.stamp is Stamp.AGO:
            self._lines.now = utc_now()
            self._lines.redraw()
        elif self._clock_timer is not None:
            self._clock_timer.stop()
            self._clock_timer = None

    def action_colours(self) -> None:
        """The service's own colours, or none."""
        self._lines.keeps_colours = not self._lines.keeps_colours
        self._lines.renew()

    def action_prefixes(self) -> None:
        """Process names in a column, without the rest of what a logger writes before its text; or all as it is."""
        self._model.view.hides_prefixes = not self.hides_prefixes
        self._model.rebuild()
        self._renew()

    def action_fold(self) -> None:
        """Close or open the block under the cursor; where there is none, all of them."""
        if not self._model.fold_block():
            self._model.fold_all()
        self._moved()

    def action_shift(self, way: int) -> None:
        """Further right or left; along the histogram while it is shown."""
        if self._histogram.display:
            self.action_bucket(way)
        else:
            self._lines.shift(way)

    def action_histogram(self) -> None:
        """Lines and errors over time, or not."""
        self._histogram.display = not self._histogram.display
        self._histogram.refresh_if_shown()
        self.call_after_refresh(self._moved)
