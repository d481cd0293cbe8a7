"""The six views."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflashtui.tui.views.fleet import FleetView
from dflashtui.tui.views.host import HostView
from dflashtui.tui.views.lists import EventsView, GpusView, ServicesView
from dflashtui.tui.views.logs import LogsView

if TYPE_CHECKING:
    from dflashtui.tui.history import History
    from dflashtui.tui.views.base import View

KINDS: dict[str, type[View]] = {
    kind.NAME: kind for kind in (FleetView, HostView, ServicesView, GpusView, LogsView, EventsView)
}
VIEWS = tuple(KINDS)
"""In the order of the keys 1 to 6."""


def make_view(name: str, history: History) -> View:
    """A view by its name."""
    return KINDS[name](history)
