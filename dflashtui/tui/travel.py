"""The main screen's ways from view to view."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.binding import Binding
from textual.containers import Container

from dflashtui.tui.journals import Journals
from dflashtui.tui.listing.widget import RowList
from dflashtui.tui.panes.list_pane import ListPane
from dflashtui.tui.places import Place
from dflashtui.tui.subject import Kind, Subject, host_subject, unit_subject
from dflashtui.tui.views import VIEWS, make_view

if TYPE_CHECKING:
    from textual.binding import BindingType

    from dflashtui.tui.listing.table import Row
    from dflashtui.tui.views.base import View


class Travel(Journals):
    """Views, panes, filters: everything that only looks."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "open", "open", id="row.open", tooltip="Go into the row"),
        *(
            Binding(
                str(place),
                f"show('{name}')",
                name,
                show=False,
                id=f"console.view_{name}",
                tooltip=f"Show the view {name}",
            )
            for place, name in enumerate(VIEWS, 1)
        ),
        Binding(
            "escape",
            "step_back",
            "back",
            show=False,
            id="console.step_back",
            tooltip="Clear marks, clear the filter, go up",
        ),
        Binding("q", "up", "up", show=False, id="console.up", tooltip="Go up one view; at the top, leave"),
        Binding(
            "minus",
            "last_view",
            "last view",
            show=False,
            id="console.last_view",
            tooltip="Back to the view before this one",
        ),
        Binding("tab", "pane(1)", "next pane", show=False, id="console.next_pane", tooltip="Next pane"),
        Binding(
            "shift+tab", "pane(-1)", "previous pane", show=False, id="console.previous_pane", tooltip="Previous pane"
        ),
        Binding("f", "full", "full screen", show=False, id="console.full", tooltip="This pane alone, and back"),
        Binding("slash", "filter", "filter", id="list.filter", tooltip="Show only rows that match"),
        Binding(
            "exclamation_mark",
            "problems",
            "problems",
            show=False,
            id="list.problems",
            tooltip="Only rows with a problem; again: all",
        ),
        Binding(
            "Z", "freeze", "freeze", show=False, id="console.freeze", tooltip="Stop drawing new values; again: go on"
        ),
        Binding("ctrl+r,f5", "read_now", "read now", show=False, id="console.read_now", tooltip="Ask the hosts now"),
    ]

    async def on_mount(self) -> None:
        """The fleet comes first."""
        await self._arrive()

    @property
    def list_pane(self) -> ListPane | None:
        """The list that has the keys."""
        pane = self.view.current_pane if self.view else None
        return pane if isinstance(pane, ListPane) else None

    @property
    def row(self) -> Row | None:
        """The row under the cursor of the list that has the keys."""
        pane = self.list_pane
        return pane.rows.listing.current if pane else None

    async def _arrive(self) -> None:
        """Show the place where we are."""
        view = await self._mounted(self.way.here.view)
        for other in self._views.values():
            other.display = other is view
        view.picture = self.picture
        view.arrive(self.way.here.subject)
        view.focus_pane(view.current_pane)
        self.fleet.look_at(self.hosts_in_view)
        self.draw()
        self.follow_row()
        self.refresh_bindings()

    async def _mounted(self, name: str) -> View:
        if name not in self._views:
            self._views[name] = make_view(name, self.feed.history)
            await self.query_one("#body", Container).mount(self._views[name])
        return self._views[name]

    def _leave(self) -> None:
        """Remember the row, so that coming back finds the cursor there."""
        if self.row is not None and self.way.here.view != "host":
            self.way.look_at(self.row.key)

    async def enter(self, place: Place) -> None:
        """One level in."""
        self._leave()
        self.way.enter(place)
        await self._arrive()

    @on(RowList.Entered)
    async def _entered(self) -> None:
        await self.action_open()

    async def action_open(self) -> None:
        """Into the row: host, then its unit or GPU; a group opens or closes."""
        row, pane = self.row, self.list_pane
        if row is None or pane is None:
            return
        match row.key.kind:
            case Kind.GROUP:
                pane.rows.fold(row.group)
            case Kind.HOST | Kind.UNIT | Kind.GPU if self.way.here.view != "host":
                await self.enter(Place("host", row.key))
            case Kind.UNIT:
                await self.enter(Place("logs", row.key))
            case Kind.GPU:
                await self.enter(Place("gpus", row.key))
            case Kind.EVENT:
                await self._open_event(row.key)

    async def _open_event(self, subject: Subject) -> None:
        event = self.picture.event(subject)
        if event is not None and event.host:
            target = unit_subject(event.host, event.unit) if event.unit else host_subject(event.host)
            await self.enter(Place("host", target))

    async def action_show(self, name: str) -> None:
        """A view by its number."""
        self._leave()
        subject = (
            self.row.key if self.row and name in {"host", "logs"} and self.row.key.kind is not Kind.GROUP else None
        )
        if name == "host" and subject is None:
            subject = host_subject(self.fleet.names[0]) if self.fleet.names else None
        self.way.jump(Place(name, subject))
        await self._arrive()

    async def action_last_view(self) -> None:
        """The view before this one."""
        self._leave()
        self.way.back()
        await self._arrive()

    async def action_step_back(self) -> None:
        """One step for each press: marks, filter, up."""
        pane = self.list_pane
        if pane is not None and pane.is_filtering:
            pane.rows.narrow("")
            pane.end_filter()
        elif pane is not None and pane.rows.listing.marks:
            pane.rows.action_unmark()
        elif pane is not None and pane.rows.listing.query:
            pane.rows.narrow("")
        elif self.has_class("-full"):
            self.remove_class("-full")
        elif self.way.up():
            await self._arrive()

    async def action_up(self) -> None:
        """Up one view; at the top, leave."""
        if self.way.up():
            await self._arrive()
        else:
            self.leave()

    def leave(self) -> None:
        """End the console."""
        self.app.exit()

    def action_pane(self, by: int) -> None:
        """The next pane of the view that can be seen or be made to be seen."""
        view = self.view
        if view is not None:
            panes = view.reachable(self.size.width)
            here = panes.index(view.current_pane) if view.current_pane in panes else 0
            view.focus_pane(panes[(here + by) % len(panes)])
            self.refresh_bindings()

    def action_full(self) -> None:
        """The pane alone, and back."""
        if self.view is not None:
            self.view.focus_pane(self.view.current_pane)
            self.toggle_class("-full")

    def action_filter(self) -> None:
        """Type a filter."""
        if self.list_pane is not None:
            self.list_pane.start_filter()

    def action_problems(self) -> None:
        """Only rows with a problem, or all."""
        if self.list_pane is not None:
            rows = self.list_pane.rows
            rows.show_problems_only(not rows.listing.problems_only)

    def action_freeze(self) -> None:
        """Stop the picture, or let it go on."""
        if self.frozen_since is None:
            self.draw()
            self.frozen_since = self.clock()
        else:
            self.frozen_since = None
        self.draw()

    def action_read_now(self) -> None:
        """Ask the host in view, or all of them."""
        hosts = self.hosts_in_view
        for host in hosts:
            self.fleet.refresh(host)
        self.notify(f"reading {hosts[0] if len(hosts) == 1 else f'{len(hosts)} hosts'} now", markup=False, timeout=2)
