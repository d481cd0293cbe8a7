"""Views 3, 4 and 6: one list over all hosts, with the details of its row where there is room."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflashtui.tui.details.gpu import gpu_lines
from dflashtui.tui.details.service import service_lines
from dflashtui.tui.details.unit import unit_lines
from dflashtui.tui.panes.detail_pane import DetailPane
from dflashtui.tui.panes.list_pane import ListPane
from dflashtui.tui.rows.gpus import all_gpu_rows
from dflashtui.tui.rows.problems import event_rows
from dflashtui.tui.rows.tables import ALL_GPUS, EVENTS, SERVICES
from dflashtui.tui.rows.units import service_rows
from dflashtui.tui.views.base import View

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.widget import Widget

    from dflashtui.tui.history import History
    from dflashtui.tui.picture import Picture
    from dflashtui.tui.subject import Subject

SIDE_BY_SIDE = 160
"""From so many columns on details stand beside the list."""


class ServicesView(View):
    """Every watched unit of every host."""

    NAME = "services"

    def __init__(self, history: History) -> None:
        super().__init__(history)
        self._list = ListPane(SERVICES, id="services")
        self._detail = DetailPane(id="service-detail")

    def compose(self) -> ComposeResult:
        """List and details."""
        yield self._list
        yield self._detail

    @property
    def panes(self) -> tuple[Widget, ...]:
        """The list first."""
        return self._list, self._detail

    @property
    def divider(self) -> tuple[Widget, str]:
        """The list beside its details, or above them."""
        return self._list, "width" if self.size.width >= SIDE_BY_SIDE else "height"

    def arrive(self, subject: Subject | None) -> None:
        """The cursor stands on a unit that was asked for."""
        if subject is not None:
            self._list.rows.go_to(subject)

    def draw(self, picture: Picture) -> None:
        """All units."""
        self._list.show(service_rows(picture))
        self.row_changed(picture)

    def row_changed(self, picture: Picture) -> None:
        """Details follow the cursor at once."""
        subject = self._list.rows.current
        unit = picture.unit(subject) if subject else None
        host = picture.host(subject.host) if subject else None
        if unit is not None and host is not None:
            room = self._detail.room
            samples = self.history.of_service(host.name, unit.name)
            usual = self.history.good_start(host.name, unit.name) if unit.phase else None
            figures = service_lines(unit, samples, picture.now, room, usual)
            self._detail.lines = unit_lines(host, unit, picture.now, room, figures)


class GpusView(View):
    """Every GPU of every host."""

    NAME = "gpus"

    def __init__(self, history: History) -> None:
        super().__init__(history)
        self._list = ListPane(ALL_GPUS, id="all-gpus")
        self._detail = DetailPane(id="gpu-detail")

    def compose(self) -> ComposeResult:
        """List and details."""
        yield self._list
        yield self._detail

    @property
    def panes(self) -> tuple[Widget, ...]:
        """The list first."""
        return self._list, self._detail

    @property
    def divider(self) -> tuple[Widget, str]:
        """The list beside its details, or above them."""
        return self._list, "width" if self.size.width >= SIDE_BY_SIDE else "height"

    def arrive(self, subject: Subject | None) -> None:
        """The cursor stands on a GPU that was asked for."""
        if subject is not None:
            self._list.rows.go_to(subject)

    def draw(self, picture: Picture) -> None:
        """All GPUs."""
        self._list.show(all_gpu_rows(picture))
        self.row_changed(picture)

    def row_changed(self, picture: Picture) -> None:
        """Details follow the cursor at once."""
        subject = self._list.rows.current
        gpu = picture.gpu(subject) if subject else None
        if gpu is not None and subject is not None:
            samples = self.history.of(subject.host, gpu.index)
            self._detail.lines = gpu_lines(gpu, samples, picture.now, self._detail.room)


class EventsView(View):
    """What happened, newest first."""

    NAME = "events"

    def __init__(self, history: History) -> None:
        super().__init__(history)
        self._list = ListPane(EVENTS, id="events")

    def compose(self) -> ComposeResult:
        """One list."""
        yield self._list

    @property
    def panes(self) -> tuple[Widget, ...]:
        """The list."""
        return (self._list,)

    def draw(self, picture: Picture) -> None:
        """All events that are kept."""
        self._list.show(event_rows(picture.events, picture.first_event))
