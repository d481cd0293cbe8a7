"""What the views have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.containers import Container
from textual.reactive import reactive

from dflashtui.tui.log.widget import LogPane
from dflashtui.tui.panes.list_pane import ListPane

if TYPE_CHECKING:
    from textual.widget import Widget

    from dflashtui.tui.history import History
    from dflashtui.tui.picture import Picture
    from dflashtui.tui.subject import Subject

STEP = {"width": 4, "height": 2}
LEAST = {"width": 28, "height": 4}


class View(Container):
    """A page of the console. It draws from `picture` while it is shown, and does no I/O."""

    picture: reactive[Picture | None] = reactive(None, repaint=False, init=False)
    NAME = ""
    """What the command line, the palette and `-` call it."""

    def __init__(self, history: History) -> None:
        super().__init__(id=f"view-{self.NAME}", classes="view")
        self.history = history

    @property
    def panes(self) -> tuple[Widget, ...]:
        """In the order of `tab`; the first one has the focus when the view is entered."""
        raise NotImplementedError

    def reachable(self, width: int) -> tuple[Widget, ...]:  # noqa: ARG002 - views with folded panes need it
        """The panes that `tab` goes to on a terminal of that width."""
        return self.panes

    def watch_picture(self) -> None:
        """New values: draw them."""
        if self.picture is not None and self.is_mounted:
            self.draw(self.picture)

    def on_mount(self) -> None:
        """Draw what is known already."""
        self.watch_picture()

    def draw(self, picture: Picture) -> None:
        """Hand the values down to the panes."""
        raise NotImplementedError

    def row_changed(self, picture: Picture) -> None:
        """The cursor stands on another row: details follow."""

    def arrive(self, subject: Subject | None) -> None:
        """The view was entered, to look at something."""

    @property
    def row(self) -> Subject | None:
        """What details and log are about: the row of the list that had the keys last."""
        return self.lists[0].rows.current if self.lists else None

    @property
    def lists(self) -> tuple[ListPane, ...]:
        """The panes that are lists."""
        return tuple(pane for pane in self.panes if isinstance(pane, ListPane))

    def focus_pane(self, pane: Widget) -> None:
        """Give the keys to a pane; on small terminals it is the only one that is seen."""
        for other in self.panes:
            other.set_class(other is pane, "-current")
        match pane:
            case ListPane():
                pane.rows.focus()
            case LogPane():
                pane.focus_lines()
            case _:
                pane.focus()

    @property
    def divider(self) -> tuple[Widget, str] | None:
        """What `+` and `_` change: the first part of the view, and whether its `width` or its `height`."""
        return None

    def grow(self, by: int) -> None:
        """Move the divider, so that the pane with the keys has more room (`by` > 0) or less."""
        if self.divider is None:
            return
        first, side = self.divider
        inside = first in self.current_pane.ancestors_with_self
        whole, now = getattr(self.size, side), getattr(first.outer_size, side)
        wanted = now + (by if inside else -by) * STEP[side]
        setattr(first.styles, side, max(LEAST[side], min(wanted, whole - LEAST[side])))
        first.styles.max_height = "100%"

    def on_resize(self) -> None:
        """Another layout may hold now: sizes that were set by hand go."""
        if self.divider is not None:
            for rule in ("width", "height", "max_height"):
                self.divider[0].styles.clear_rule(rule)
        self.call_after_refresh(self.watch_picture)

    @property
    def current_pane(self) -> Widget:
        """The pane that has the keys, or had them last."""
        focused = self.screen.focused
        holding = (pane for pane in self.panes if focused is not None and pane in focused.ancestors_with_self)
        return next(holding, None) or next((pane for pane in self.panes if pane.has_class("-current")), self.panes[0])
