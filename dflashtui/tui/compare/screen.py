"""What differs between the environments of hosts, on one page."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from dflashtui.text import printable
from dflashtui.tui.bar import content_of, lines_of
from dflashtui.tui.compare import words
from dflashtui.tui.compare.directions import directions
from dflashtui.tui.details.parts import folded
from dflashtui.tui.mounted import has_parts
from dflashtui.tui.rows.words import unit_label
from dflashtui.tui.styled import Cell, cell

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.app import ComposeResult
    from textual.binding import BindingType

    from dflashtui.model.comparison import Comparison
    from dflashtui.tui.compare.directions import Direction
    from dflashtui.tui.compare.pairing import Pairing

LEAST_WIDTH = 20
TICK_SECONDS = 1.0
HOSTS_SHOWN = 4


class CompareScreen(ModalScreen[None]):
    """Draws the comparison; the desk behind it reads the hosts."""

    HELP = (
        "What differs, what decides about binaries first; `×`: a rule says that it cannot run so. `a` shows what is "
        "equal, too, `s` makes packages of one host like those of another and `u` puts them back (both ask first), `r` "
        "reads again, `c` copies, `escape` leaves."
    )
    CSS_PATH = "compare.tcss"
    HORIZONTAL_BREAKPOINTS = [(0, "-w40"), (80, "-w80")]  # noqa: RUF012 - Textual declares it so
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,equals_sign", "leave", "close", id="compare.leave"),
        Binding("a", "every", "all / differences", id="compare.all", tooltip="What is equal, too; again: what differs"),
        Binding("r,ctrl+r,f5", "again", "read again", id="compare.again", tooltip="Read the hosts again"),
        Binding(
            "s", "sync", "sync", id="compare.sync",
            tooltip="Make packages of one host like those of another; shows the plan, and asks",
        ),
        Binding(
            "u", "undo", "put back", id="compare.undo", tooltip="Put back what the last sync of a host replaced; asks"
        ),
        Binding("j,down", "scroll(1)", "down", show=False, id="compare.down"),
        Binding("k,up", "scroll(-1)", "up", show=False, id="compare.up"),
        Binding("g,home", "far(-1)", "top", show=False, id="compare.first"),
        Binding("G,end", "far(1)", "end", show=False, id="compare.last"),
        Binding("ctrl+d,pagedown,space", "page(1)", "page down", show=False, id="compare.page_down"),
        Binding("ctrl+u,pageup", "page(-1)", "page up", show=False, id="compare.page_up"),
        Binding("c", "copy", "copy", id="compare.copy", tooltip="Copy what is shown"),
    ]  # fmt: skip

    def __init__(
        self,
        pairing: Pairing,
        may_change: Callable[[str], bool],
        want: Callable[[CompareScreen, str], object],
    ) -> None:
        """`may_change`: whether anything may be run on a host. Wishes: `again` (then `fill`), `sync`, `undo`."""
        super().__init__()
        self.pairing = pairing
        self._may_change = may_change
        self._wish = want
        self.comparison: Comparison | None = None
        self._began: float | None = None
        self._shows_all = False
        self._text = Static(markup=False)

    def compose(self) -> ComposeResult:
        """The page."""
        with Vertical(classes="dialog wide", id="compare") as dialog:
            dialog.border_title = content_of(self._title())
            with VerticalScroll(id="page", can_focus=False):
                yield self._text

    def _title(self) -> Cell:
        hosts, reference = self.pairing.hosts, self.pairing.reference
        unit: Cell = ((f" for {unit_label(self.pairing.unit)}", "dim"),) if self.pairing.unit else ()
        if reference is not None:
            others = ", ".join(printable(host) for host in hosts if host != reference)
            return ((others, "strong"), (f" against its reference {printable(reference)}", ""), *unit)
        more = f" + {len(hosts) - HOSTS_SHOWN}" if len(hosts) > HOSTS_SHOWN else ""
        return (("compare ", ""), (", ".join(map(printable, hosts[:HOSTS_SHOWN])) + more, "strong"), *unit)

    def on_mount(self) -> None:
        """Draw that they are read, and begin to."""
        self.set_interval(TICK_SECONDS, self._draw_keys)
        self._draw()
        self.call_after_refresh(self.action_again)

    def fill(self, comparison: Comparison) -> None:
        """What the hosts have said."""
        self.comparison, self._began = comparison, None
        if has_parts(self):
            self._draw()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """What can be done now."""
        match action:
            case "every" | "copy":
                return self.comparison is not None
            case "again":
                return self._began is None
            case "sync":
                return bool(self._ways)
            case "undo":
                return self.comparison is not None and any(map(self._may_change, self.comparison.hosts))
            case _:
                return super().check_action(action, parameters)

    @property
    def _ways(self) -> tuple[Direction, ...]:
        return directions(self.pairing, self.comparison, self._may_change) if self._began is None else ()

    def _draw(self) -> None:
        width = max(LEAST_WIDTH, self.query_one("#page").size.width - 1)
        self._text.update(lines_of(folded(self._lines(width), width)))
        self._draw_keys()
        self.refresh_bindings()

    def _lines(self, width: int) -> tuple[Cell, ...]:
        if self.comparison is None:
            hosts = ", ".join(map(printable, self.pairing.hosts))
            return (cell(f"reading the environments of {hosts} …", "busy"),)
        return words.page(self.comparison, width, every=self._shows_all)

    def _draw_keys(self) -> None:
        if not has_parts(self):
            return
        state = f"reading … {monotonic() - self._began:.0f} s · " if self._began is not None else "r reads again · "
        every = "a only differences · " if self._shows_all else "a all · "
        sync = "s sync · " if self._ways and not self.has_class("-w40") else ""
        shown = f"{every}{sync}{state}c copy · " if self.comparison is not None else state
        self.query_one("#compare", Vertical).border_subtitle = Content(f"{shown}escape closes")

    def on_resize(self) -> None:
        """Another width: other columns."""
        self.call_after_refresh(self._draw)

    def action_every(self) -> None:
        """What is equal, too; or not."""
        self._shows_all = not self._shows_all
        self._draw()

    def action_again(self) -> None:
        """Read them; what is shown stays until then."""
        self._began = monotonic()
        self._draw()
        self._wish(self, "again")

    def action_sync(self) -> None:
        """Make packages alike."""
        self._wish(self, "sync")

    def action_undo(self) -> None:
        """Put them back."""
        self._wish(self, "undo")

    def action_scroll(self, by: int) -> None:
        """A line."""
        self.query_one("#page").scroll_relative(y=by, animate=False)

    def action_page(self, by: int) -> None:
        """Half a page."""
        page = self.query_one("#page")
        page.scroll_relative(y=by * max(1, page.size.height // 2), animate=False)

    def action_far(self, way: int) -> None:
        """To one end."""
        page = self.query_one("#page")
        (page.scroll_home if way < 0 else page.scroll_end)(animate=False)

    def action_copy(self) -> None:
        """What is shown, as text."""
        if self.comparison is None:
            return
        text = words.copied(self.comparison, every=self._shows_all)
        self.app.copy_to_clipboard(text)
        self.notify(f"copied the comparison: {len(text)} characters", markup=False, timeout=2)

    def action_leave(self) -> None:
        """Back."""
        self.dismiss(None)
