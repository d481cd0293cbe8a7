"""Lines and errors over time, below the lines; the cursor stands in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.content import Content
from textual.widgets import Static

from dflashtui.tui.log.buckets import axis, bars, beside, chart

if TYPE_CHECKING:
    from datetime import tzinfo

    from dflashtui.tui.log.buckets import Chart
    from dflashtui.tui.log.model import LogModel
    from dflashtui.tui.log.record import Record

LABEL = 7


class Histogram(Static):
    """Of what is shown: filters apply."""

    DEFAULT_CSS = "Histogram { dock: bottom; height: 3; padding: 0 1; }"

    def __init__(self, model: LogModel, zone: tzinfo | None) -> None:
        super().__init__(markup=False)
        self._model = model
        self._zone = zone
        self._chart: Chart | None = None
        self.display = False

    def refresh_if_shown(self) -> None:
        """The records or the cursor changed."""
        if self.display and self.size.width:
            self._draw()

    def on_resize(self) -> None:
        """Another number of columns."""
        self.refresh_if_shown()

    def _draw(self) -> None:
        width = self.size.width - LABEL
        self._chart = chart(self._model.view.records, width)
        if self._chart is None:
            self.update(Content("no lines to count"))
            return
        here = self._model.cursor
        place = self._chart.place(here.shown_at.timestamp()) if here is not None else -1
        lines = bars([bucket.line_count for bucket in self._chart.buckets])
        errors = bars([bucket.error_count for bucket in self._chart.buckets])
        self.update(
            Content("\n").join(
                (
                    Content.assemble("lines  ", *_with_cursor(lines, place, "")),
                    Content.assemble("errors ", *_with_cursor(errors, place, "$text-error")),
                    Content.assemble((" " * LABEL + axis(self._chart, width, self._zone), "dim")),
                )
            )
        )

    def beside(self, way: int) -> Record | None:
        """The first record of the next part of the time that has any."""
        here = self._model.cursor
        if self._chart is None or here is None:
            return None
        records = self._model.view.records
        found = beside(self._chart, here.shown_at.timestamp(), way)
        return records[found] if 0 <= found < len(records) else None


def _with_cursor(row: str, place: int, style: str) -> tuple[tuple[str, str], ...]:
    if not 0 <= place < len(row):
        return ((row, style),)
    return ((row[:place], style), (row[place], f"{style} reverse".strip()), (row[place + 1 :], style))
