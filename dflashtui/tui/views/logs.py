"""View 5: units at the left, the log of one of them at the right."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflashtui.tui.log.widget import LogPane
from dflashtui.tui.panes.list_pane import ListPane
from dflashtui.tui.rows.tables import SERVICES
from dflashtui.tui.rows.units import service_rows
from dflashtui.tui.views.base import View

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.widget import Widget

    from dflashtui.tui.history import History
    from dflashtui.tui.picture import Picture
    from dflashtui.tui.subject import Subject

SIDE_BY_SIDE = 100
"""From so many columns on the log stands beside the units."""


class LogsView(View):
    """Logs of the whole fleet."""

    NAME = "logs"

    def __init__(self, history: History) -> None:
        super().__init__(history)
        self._list = ListPane(SERVICES, id="log-units")
        self._log = LogPane(id="log-alone", classes="pane")

    def compose(self) -> ComposeResult:
        """Units and log."""
        yield self._list
        yield self._log

    @property
    def panes(self) -> tuple[Widget, ...]:
        """The units first."""
        return self._list, self._log

    @property
    def divider(self) -> tuple[Widget, str]:
        """Units beside the log, or above it."""
        return self._list, "width" if self.size.width >= SIDE_BY_SIDE else "height"

    def arrive(self, subject: Subject | None) -> None:
        """The log of a unit that was asked for."""
        if subject is not None:
            self._list.rows.go_to(subject)

    def draw(self, picture: Picture) -> None:
        """All units."""
        self._list.show(service_rows(picture))
