"""The difference of one unit over its hosts: groups on the left, the chosen one's text on the right."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.binding import Binding
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from dflashtui.tui.bar import content_of, lines_of
from dflashtui.tui.changes import words
from dflashtui.tui.changes.answer import Answer
from dflashtui.tui.details.parts import folded
from dflashtui.tui.mounted import has_parts
from dflashtui.tui.rows.words import unit_label
from dflashtui.tui.styled import EMPTY, Cell, cell, plain

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from textual.app import ComposeResult
    from textual.binding import BindingType

    from dflashtui.ops.diff import DiffGroup

LEAST_WIDTH = 20
WAITING: tuple[Cell, ...] = (cell("asking the hosts …", "dim"),)


class DiffScreen(ModalScreen[Answer | None]):
    """Answers a wish; `None` when it was left."""

    HELP = (
        "`j` and `k` choose hosts with the same difference, `P` pushes to them, `A` deploys to them "
        "(push, restart, probe), `e` edits the template or the inventory, `c` copies, `escape` leaves."
    )
    CSS_PATH = "changes.tcss"
    HORIZONTAL_BREAKPOINTS = [(0, "-w40"), (60, "-w60"), (80, "-w80"), (100, "-w100")]  # noqa: RUF012 - as in Textual
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,D", "leave", "close", id="diff.leave"),
        Binding("P", "wish('push')", "push", id="diff.push", tooltip="Push to the hosts of this group; asks first"),
        Binding("A", "wish('deploy')", "deploy", id="diff.deploy", tooltip="Push, restart and probe; asks first"),
        Binding("e", "wish('edit')", "edit", id="diff.edit", tooltip="Edit the local template or the inventory"),
        Binding("j", "choose(1)", "next hosts", show=False, id="diff.next"),
        Binding("k", "choose(-1)", "previous hosts", show=False, id="diff.previous"),
        Binding("ctrl+d,pagedown,space", "page(1)", "page down", show=False, id="diff.page_down"),
        Binding("ctrl+u,pageup", "page(-1)", "page up", show=False, id="diff.page_up"),
        Binding("c", "copy", "copy", id="diff.copy", tooltip="Copy the difference"),
    ]

    def __init__(self, unit: str, host: str, *, may_change: bool) -> None:
        """`host`: the one whose group is chosen first."""
        super().__init__()
        self._unit = unit
        self._host = host
        self._may_change = may_change
        self._groups: tuple[DiffGroup, ...] = ()
        self._failures: dict[str, str] = {}
        self._is_filled = False
        self._list = OptionList(compact=True, markup=False, id="groups")
        self._text = Static(markup=False)

    def compose(self) -> ComposeResult:
        """Groups, and the difference."""
        with Vertical(classes="dialog wide", id="diff") as dialog:
            dialog.border_title = content_of((("difference of ", ""), (unit_label(self._unit), "strong")))
            with Horizontal():
                yield self._list
                with VerticalScroll(id="page", can_focus=False):
                    yield self._text

    def on_mount(self) -> None:
        """What is known already."""
        self._draw_groups()

    def fill(self, groups: Sequence[DiffGroup], failures: Mapping[str, str]) -> None:
        """What the hosts have said."""
        self._groups, self._failures, self._is_filled = tuple(groups), dict(failures), True
        if has_parts(self):
            self._draw_groups()

    @property
    def chosen(self) -> DiffGroup | None:
        """The group that is looked at."""
        place = self._list.highlighted
        return self._groups[place] if place is not None and place < len(self._groups) else None

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Nothing is changed where nothing may be, and before the difference was seen."""
        if action == "wish" and parameters != ("edit",):
            return self._may_change and self.chosen is not None
        return super().check_action(action, parameters)

    def _draw_groups(self) -> None:
        self._list.display = len(self._groups) > 1
        self._list.set_options([Option(content_of(words.group_line(group))) for group in self._groups])
        if self._groups:
            own = next((place for place, group in enumerate(self._groups) if self._host in group.hosts), 0)
            self._list.highlighted = own
        self.query_one("#diff", Vertical).border_subtitle = Content(self._keys())
        self._draw_text()
        self.refresh_bindings()

    def _keys(self) -> str:
        change = "P push · A deploy · " if self._may_change and self._groups else ""
        return f"{change}e edit · c copy · escape closes"

    @on(OptionList.OptionHighlighted)
    def _draw_text(self) -> None:
        self.query_one("#page").scroll_home(animate=False)
        width = max(LEAST_WIDTH, self.query_one("#page").size.width - 1)
        self._text.update(lines_of(folded(self._lines(), width)))

    def _lines(self) -> tuple[Cell, ...]:
        if not self._is_filled:
            return WAITING
        page = words.group_page(self.chosen) if self.chosen else ()
        failures = words.failure_lines(self._failures)
        return (*page, *((EMPTY,) if page and failures else ()), *failures)

    def on_resize(self) -> None:
        """Another width: other line breaks."""
        self.call_after_refresh(self._draw_text)

    def action_choose(self, by: int) -> None:
        """Another group; the text scrolls where there is only one."""
        if len(self._groups) < 2:  # noqa: PLR2004 - nothing to choose from
            self.query_one("#page").scroll_relative(y=by, animate=False)
        elif self._list.highlighted is not None:
            self._list.highlighted = (self._list.highlighted + by) % len(self._groups)

    def action_page(self, by: int) -> None:
        """Half a page."""
        page = self.query_one("#page")
        page.scroll_relative(y=by * max(1, page.size.height // 2), animate=False)

    def action_wish(self, wish: str) -> None:
        """Leave with it."""
        self.dismiss(Answer(wish, self.chosen.hosts if self.chosen else ()))

    def action_copy(self) -> None:
        """The difference as text."""
        text = "\n".join(map(plain, self._lines()))
        self.app.copy_to_clipboard(text)
        self.notify(f"copied the difference: {len(text)} characters", markup=False, timeout=2)

    def action_leave(self) -> None:
        """Back."""
        self.dismiss(None)
