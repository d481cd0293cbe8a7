"""The packages that shall be made alike: a list with marks."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from dflashtui.tui.bar import content_of
from dflashtui.tui.compare import words
from dflashtui.tui.compare.directions import is_other
from dflashtui.tui.styled import untabbed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from textual.app import ComposeResult
    from textual.binding import BindingType

    from dflashtui.model.comparison import Compared
    from dflashtui.tui.compare.directions import Direction


class PickScreen(ModalScreen[tuple[str, ...] | None]):
    """Answers the marked packages, or, without a mark, the one under the cursor; `None` when it was left."""

    HELP = (
        "`space` marks a package and steps down, `a` marks all that differ, `enter` goes on to the plan, which asks "
        "before anything is changed. `escape` leaves."
    )
    CSS_PATH = "compare.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "leave", "leave", id="pick.leave"),
        Binding("space", "mark", "mark", id="pick.mark", tooltip="Mark this package, or take the mark away"),
        Binding("a", "mark_all", "mark all that differ", id="pick.mark_all", tooltip="All that differ; again: none"),
        Binding("j", "step(1)", "down", show=False, id="pick.down"),
        Binding("k", "step(-1)", "up", show=False, id="pick.up"),
    ]  # fmt: skip

    def __init__(self, way: Direction, rows: Sequence[Compared]) -> None:
        """`rows`: packages that the source has."""
        super().__init__()
        self._way = way
        self._rows = tuple(rows)
        self._marked: set[str] = set()
        self._list = OptionList(compact=True, markup=False, id="packages")

    def compose(self) -> ComposeResult:
        """What the target has, and what it would get."""
        with Vertical(classes="dialog wide", id="pick") as dialog:
            dialog.border_title = content_of(words.way_title(self._way))
            dialog.border_subtitle = Content("space marks · a all that differ · enter: the plan · escape leaves")
            yield self._list

    def on_mount(self) -> None:
        """Nothing is marked."""
        self._list.add_options([Option(self._line(row)) for row in self._rows])
        self._list.highlighted = 0
        self._list.focus()

    def _line(self, row: Compared) -> Content:
        return content_of(untabbed(words.package_line(row, self._way, is_marked=row.name in self._marked)))

    def _draw(self, place: int) -> None:
        self._list.replace_option_prompt_at_index(place, self._line(self._rows[place]))

    def action_mark(self) -> None:
        """Mark, and step down."""
        place = self._list.highlighted
        if place is None:
            return
        self._marked ^= {self._rows[place].name}
        self._draw(place)
        self._list.action_cursor_down()

    def action_mark_all(self) -> None:
        """All that differ; when they are marked already: none."""
        differing = {row.name for row in self._rows if is_other(row, self._way)}
        self._marked = set() if self._marked >= differing else self._marked | differing
        for place in range(len(self._rows)):
            self._draw(place)

    def action_step(self, by: int) -> None:
        """A line."""
        (self._list.action_cursor_down if by > 0 else self._list.action_cursor_up)()

    @on(OptionList.OptionSelected)
    def _go_on(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        marked = tuple(row.name for row in self._rows if row.name in self._marked)
        self.dismiss(marked or (self._rows[event.option_index].name,))

    def action_leave(self) -> None:
        """Nothing was chosen."""
        self.dismiss(None)
