"""View 1: a line for each host, and what needs a person."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.containers import Container
from textual.widgets import Static

from dflashtui.paths import config_folder
from dflashtui.text import printable
from dflashtui.tui.bar import lines_of
from dflashtui.tui.panes.list_pane import ListPane
from dflashtui.tui.picture import problems
from dflashtui.tui.rows.fleet import fleet_rows
from dflashtui.tui.rows.problems import event_rows, problem_rows
from dflashtui.tui.rows.tables import EVENTS, FLEET, PROBLEMS
from dflashtui.tui.styled import EMPTY, Cell, cell
from dflashtui.tui.views.base import View

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.widget import Widget

    from dflashtui.tui.history import History
    from dflashtui.tui.picture import Picture
    from dflashtui.tui.subject import Subject

ROOM_FOR_EVENTS = 160
RECENT = 100
CLOSED_FROM_HOSTS = 40
"""Larger fleets begin with their groups closed."""


def first_steps() -> tuple[Cell, ...]:
    """For a person who has no inventory yet."""
    path = config_folder() / "hosts.toml"
    return (
        cell("no hosts.toml was found: this machine alone is watched", "title"),
        ((f"to watch others, write {printable(str(path))}; two lines are enough for a host that ssh knows:", "dim"),),
        EMPTY,
        cell("    [hosts.my-gpu-box]", "accent"),
        cell('    units = ["sglang*.service"]', "accent"),
    )


class FleetView(View):
    """Hosts above, problems below; on wide terminals what happened last beside them."""

    NAME = "fleet"

    def __init__(self, history: History) -> None:
        super().__init__(history)
        self._hosts = ListPane(FLEET, id="hosts")
        self._problems = ListPane(PROBLEMS, id="problems")
        self._recent = ListPane(EVENTS, id="recent")
        self._is_first = True
        self._first_steps = Static(lines_of(first_steps()), id="first-steps", markup=False)

    def compose(self) -> ComposeResult:
        """Three lists."""
        yield self._hosts
        yield self._first_steps
        with Container(id="fleet-below"):
            yield self._problems
            yield self._recent

    @property
    def panes(self) -> tuple[Widget, ...]:
        """Hosts first."""
        return self._hosts, self._problems, self._recent

    def reachable(self, width: int) -> tuple[Widget, ...]:
        """Events have a view of their own; they stand here only where there is room."""
        return self.panes if width >= ROOM_FOR_EVENTS else self.panes[:2]

    @property
    def divider(self) -> tuple[Widget, str]:
        """Hosts above problems."""
        return self._hosts, "height"

    def draw(self, picture: Picture) -> None:
        """All hosts, and their problems."""
        if self._is_first and picture.hosts:
            self._is_first = False
            if len(picture.hosts) >= CLOSED_FROM_HOSTS:
                self._hosts.rows.listing.closed = {host.group for host in picture.hosts}
        self._first_steps.display = not picture.has_inventory
        self._hosts.show(fleet_rows(picture))
        self._problems.show(problem_rows(problems(picture)))
        if self.size.width >= ROOM_FOR_EVENTS:
            recent = picture.events[-RECENT:]
            self._recent.show(event_rows(recent, picture.first_event + len(picture.events) - len(recent)))
            if not self._recent.rows.has_focus:
                self._recent.rows.go_to_first()  # nobody reads back: the newest stays in sight

    def arrive(self, subject: Subject | None) -> None:
        """Back from a host: the cursor stands on it."""
        if subject is not None:
            self._hosts.rows.go_to(subject)
