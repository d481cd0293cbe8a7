"""View 2: one host, its units, its GPUs and the log of a unit side by side; stacked where there is no room."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.containers import Container
from textual.widgets import Static

from dflashtui.model.host import LinkState
from dflashtui.tui.bar import lines_of
from dflashtui.tui.cells import gpu_cells, memory_of
from dflashtui.tui.details.gpu import gpu_lines
from dflashtui.tui.details.host import host_lines, link_trouble
from dflashtui.tui.details.unit import unit_lines
from dflashtui.tui.glyphs import link_state
from dflashtui.tui.log.widget import LogPane
from dflashtui.tui.panes.detail_pane import DetailPane
from dflashtui.tui.panes.list_pane import ListPane
from dflashtui.tui.rows.gpus import gpu_rows, no_gpu_words
from dflashtui.tui.rows.tables import GPUS, UNITS
from dflashtui.tui.rows.units import is_old, no_unit_words, unit_rows
from dflashtui.tui.styled import toned
from dflashtui.tui.subject import Kind, Subject, host_subject
from dflashtui.tui.views.base import View

if TYPE_CHECKING:
    from datetime import datetime

    from textual.app import ComposeResult
    from textual.widget import Widget

    from dflashtui.model.host import HostSnapshot
    from dflashtui.tui.history import History
    from dflashtui.tui.picture import Picture
    from dflashtui.tui.styled import Cell

STACKED, SIDE_BY_SIDE = 80, 100
"""From so many columns on the log stands beside the lists."""

NOTICE_MARGIN = 8
"""Cells beside the text of the notice."""


class HostView(View):
    """Lists at the left with the details of their row, the log at the right."""

    NAME = "host"

    def __init__(self, history: History) -> None:
        super().__init__(history)
        self.host: str | None = None
        self._shown: Subject | None = None
        self._notice = Static(id="notice", markup=False)
        self._units = ListPane(UNITS, id="units")
        self._gpus = ListPane(GPUS, id="gpus")
        self._detail = DetailPane(id="detail")
        self._log = LogPane(id="log", classes="pane")
        self._left = Container(id="host-left")
        self._last_list = self._units

    def compose(self) -> ComposeResult:
        """The notice is seen only when the host cannot be looked at."""
        yield self._notice
        with Container(id="host-body"):
            with self._left:
                with Container(id="host-lists"):
                    yield self._units
                    yield self._gpus
                yield self._detail
            yield self._log

    @property
    def panes(self) -> tuple[Widget, ...]:
        """Units, GPUs, details, log."""
        return self._units, self._gpus, self._detail, self._log

    @property
    def divider(self) -> tuple[Widget, str]:
        """Lists and details beside the log, or above it."""
        return self._left, "width" if self.size.width >= SIDE_BY_SIDE else "height"

    def arrive(self, subject: Subject | None) -> None:
        """Show a host, with the cursor on one of its units or GPUs."""
        if subject is None:
            return
        if subject.host != self.host:
            self.host = subject.host
            self._shown = None
        self.watch_picture()
        if subject.kind is Kind.UNIT:
            self._units.rows.go_to(subject)
        elif subject.kind is Kind.GPU:
            self._gpus.rows.go_to(subject)
            self.focus_pane(self._gpus)

    def draw(self, picture: Picture) -> None:
        """Everything about the host."""
        host = picture.host(self.host) if self.host else None
        if host is None:
            return
        self._draw_notice(host, picture)
        self._units.rows.empty_words = no_unit_words(host)
        self._units.show(unit_rows(host, picture.now))
        self._gpus.rows.empty_words = no_gpu_words(host)
        self._gpus.caption = self._gpu_caption(host, picture.now)
        self._gpus.show(gpu_rows(host, picture.now))
        self._draw_detail(host, picture)

    def _gpu_caption(self, host: HostSnapshot, now: datetime) -> Cell | None:
        """While the list is folded to its title: its cells, or why there are none."""
        if not STACKED <= self.size.width < SIDE_BY_SIDE or self._gpus.has_class("-current"):
            return None
        if not host.gpus:
            return (("GPUs ", ""), ("–", "dim"), (f"  {no_gpu_words(host)}", "dim"))
        values = (*gpu_cells(host.gpus), ("  ", ""), *memory_of(host.gpus))
        return (("GPUs  ", ""), *(toned(values, "stale") if is_old(host, now) else values))

    def reachable(self, width: int) -> tuple[Widget, ...]:
        """Between 80 and 99 columns there is no room for details: `d` shows them."""
        folded = STACKED <= width < SIDE_BY_SIDE
        return tuple(pane for pane in self.panes if not (folded and pane is self._detail))

    def row_changed(self, picture: Picture) -> None:
        """Details follow the cursor at once."""
        host = picture.host(self.host) if self.host else None
        if host is not None:
            self._draw_detail(host, picture)

    def _draw_notice(self, host: HostSnapshot, picture: Picture) -> None:
        trouble = host.link.state not in {LinkState.UP, LinkState.CONNECTING}
        self._notice.display = trouble
        if trouble:
            state = link_state(host.link, picture.now)
            title = ((f"{state.glyph} {state.word}", state.role),)
            self._notice.update(
                lines_of((title, *link_trouble(host.link, picture.now, max(20, self.size.width - NOTICE_MARGIN))))
            )

    def _draw_detail(self, host: HostSnapshot, picture: Picture) -> None:
        width = self._detail.room
        subject = self.row
        gpu = picture.gpu(subject) if subject and subject.kind is Kind.GPU else None
        unit = picture.unit(subject) if subject and subject.kind is Kind.UNIT else None
        if gpu is not None:
            samples = self.history.of(host.name, gpu.index)
            self._detail.lines = gpu_lines(gpu, samples, picture.now, width)
        elif unit is not None:
            self._detail.lines = unit_lines(host, unit, picture.now, width)
        else:
            self._detail.lines = host_lines(host, picture.now, width)

    @property
    def row(self) -> Subject | None:
        """The row of the list that had the keys last."""
        pane = self.current_pane
        if isinstance(pane, ListPane):
            self._last_list = pane
        return self._last_list.rows.current or (host_subject(self.host) if self.host else None)
