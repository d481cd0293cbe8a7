"""The findings of a preflight: a list, worst first, and below it everything about the chosen one."""

from __future__ import annotations

from time import monotonic
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.binding import Binding
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from dflashtui.text import printable
from dflashtui.tui.bar import content_of, lines_of
from dflashtui.tui.details.parts import folded
from dflashtui.tui.mounted import has_parts
from dflashtui.tui.preflight import words
from dflashtui.tui.preflight.words import Look, Place
from dflashtui.tui.rows.words import unit_label
from dflashtui.tui.styled import Cell, cell, untabbed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual.app import ComposeResult
    from textual.binding import BindingType

    from dflashtui.model.preflight import Preflight, PreflightFinding

LEAST_WIDTH = 20
TICK_SECONDS = 1.0


class PreflightScreen(ModalScreen[None]):
    """Draws what was found; what a key asks for is done by the desk behind it."""

    HELP = (
        "`j` and `k` choose a finding, `enter` gives it all the room, `f` runs its remedy, `F` all remedies as one "
        "plan (both ask first), `r` looks again, `c` copies, `escape` leaves. `$`: one command cures it."
    )
    CSS_PATH = "preflight.tcss"
    HORIZONTAL_BREAKPOINTS = [(0, "-w40"), (80, "-w80")]  # noqa: RUF012 - Textual declares it so
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,v", "leave", "close", id="preflight.leave"),
        Binding("f", "fix", "fix", id="preflight.fix", tooltip="Run the remedy of this finding; asks first"),
        Binding("F", "fix_all", "fix all", id="preflight.fix_all", tooltip="Run all remedies as one plan; asks first"),
        Binding("r,ctrl+r,f5", "again", "look again", id="preflight.again", tooltip="Look again"),
        Binding("enter", "open", "all the room", show=False, id="preflight.open", tooltip="This finding alone; back"),
        Binding("j,down", "choose(1)", "next finding", show=False, id="preflight.next"),
        Binding("k,up", "choose(-1)", "previous finding", show=False, id="preflight.previous"),
        Binding("g,home", "far(1)", "first finding", show=False, id="preflight.first"),
        Binding("G,end", "far(-1)", "last finding", show=False, id="preflight.last"),
        Binding("ctrl+d,pagedown,space", "page(1)", "page down", show=False, id="preflight.page_down"),
        Binding("ctrl+u,pageup", "page(-1)", "page up", show=False, id="preflight.page_up"),
        Binding("c", "copy", "copy", id="preflight.copy", tooltip="Copy all findings"),
    ]  # fmt: skip

    def __init__(
        self,
        places: Sequence[Place],
        may_change: Callable[[str], bool],
        want: Callable[[PreflightScreen, str], object],
    ) -> None:
        """`may_change`: whether anything may be run on a host. The wishes: `again`, `fix`, `fix_all`."""
        super().__init__()
        self._looks = dict.fromkeys(places, Look())
        self._may_change = may_change
        self._wish = want
        self._began = monotonic()
        self._entries: tuple[words.Entry, ...] = ()
        self._list = OptionList(compact=True, markup=False, id="findings")
        self._list.can_focus = False
        self._text = Static(markup=False)

    def compose(self) -> ComposeResult:
        """Findings, and the chosen one."""
        with Vertical(classes="dialog wide", id="preflight") as dialog:
            dialog.border_title = content_of(self._title())
            yield self._list
            with VerticalScroll(id="finding", can_focus=False):
                yield self._text

    def _title(self) -> Cell:
        if len(self._looks) > 1:
            return (("preflight of ", ""), (f"{len(self._looks)} units", "strong"))
        place = next(iter(self._looks))
        return (("preflight of ", ""), (unit_label(place.unit), "strong"), (f" on {printable(place.host)}", ""))

    def on_mount(self) -> None:
        """Draw that it is looked at, and begin to."""
        self.set_interval(TICK_SECONDS, self._draw_keys)
        self._draw()
        self.call_after_refresh(self._wish, self, "again")

    @property
    def places(self) -> tuple[Place, ...]:
        """What is looked at."""
        return tuple(self._looks)

    @property
    def found(self) -> tuple[Preflight, ...]:
        """What was found where anything may be changed."""
        return tuple(look.found for place, look in self._looks.items() if look.found and self._may_change(place.host))

    @property
    def chosen(self) -> PreflightFinding | None:
        """The finding that is looked at."""
        place = self._list.highlighted
        return self._entries[place].finding if place is not None and place < len(self._entries) else None

    @property
    def is_looking(self) -> bool:
        """Whether any place is looked at now."""
        return any(look.is_looking for look in self._looks.values())

    def begin(self, places: Sequence[Place]) -> None:
        """They are looked at again; what was found stays until then."""
        self._began = monotonic()
        for place in places:
            self._looks[place] = self._looks[place]._replace(is_looking=True)
        self._draw()

    def fill(self, found: Preflight) -> None:
        """What one place has shown."""
        self._looks[Place(found.host, found.unit)] = Look(found, is_looking=False)
        self._draw()

    def fail(self, place: Place, failure: str) -> None:
        """One place could not be looked at."""
        self._looks[place] = self._looks[place]._replace(failure=failure, is_looking=False)
        self._draw()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Nothing is run where nothing may be, nor before it was seen."""
        match action:
            case "fix":
                return self._can_fix(self.chosen)
            case "fix_all":
                return bool(self._cures)
            case "again":
                return not self.is_looking
            case _:
                return super().check_action(action, parameters)

    def _can_fix(self, finding: PreflightFinding | None) -> bool:
        is_cured = finding is not None and finding.command is not None
        return is_cured and not self.is_looking and self._may_change(finding.host if finding else "")

    @property
    def _cures(self) -> int:
        return 0 if self.is_looking else sum(len(found.commands) for found in self.found)

    def _draw(self) -> None:
        if not has_parts(self):
            return
        chosen = self.chosen
        self._entries = words.entries(self._looks)
        self._list.set_options(
            [Option(content_of(untabbed(one.line)), disabled=one.finding is None) for one in self._entries]
        )
        self._choose(chosen)
        self._draw_finding()
        self._draw_keys()
        self.refresh_bindings()

    def _choose(self, finding: PreflightFinding | None) -> None:
        """The same finding again, else the worst of the first place that has any."""
        ids = [(one.finding.host, one.finding.unit, one.finding.id) if one.finding else None for one in self._entries]
        same = (finding.host, finding.unit, finding.id) if finding else None
        first = next((place for place, one in enumerate(ids) if one is not None), None)
        self._list.highlighted = ids.index(same) if same in ids and same is not None else first

    @on(OptionList.OptionHighlighted)
    def _draw_finding(self) -> None:
        page = self.query_one("#finding")
        page.scroll_home(animate=False)
        chosen = self.chosen
        lines = words.finding_page(chosen, can_fix=self._can_fix(chosen)) if chosen else self._nothing()
        self._text.update(lines_of(folded(lines, max(LEAST_WIDTH, page.size.width - 1))))
        self.refresh_bindings()
        self._draw_keys()

    def _nothing(self) -> tuple[Cell, ...]:
        if self.is_looking:
            return (cell("every fault that shows without a start, in one pass; nothing is started or changed", "dim"),)
        return words.NOTHING_CHOSEN if all(look.failure is None for look in self._looks.values()) else ()

    def _draw_keys(self) -> None:
        if not has_parts(self):
            return
        parts = [f"looking … {monotonic() - self._began:.0f} s"] * self.is_looking
        parts += ["f fixes this"] * self._can_fix(self.chosen)
        parts += [f"F fixes all ({self._cures})"] * bool(self._cures)
        has_room = not parts or not self.has_class("-w40")
        parts += ["r looks again"] * (has_room and not self.is_looking)
        self.query_one("#preflight", Vertical).border_subtitle = Content(
            " · ".join((*parts, "c copy", "escape closes"))
        )

    def on_resize(self) -> None:
        """Another width: other line breaks."""
        self.call_after_refresh(self._draw_finding)

    def action_choose(self, by: int) -> None:
        """Another finding; heads are passed over."""
        (self._list.action_cursor_down if by > 0 else self._list.action_cursor_up)()

    def action_far(self, way: int) -> None:
        """To one end."""
        (self._list.action_first if way > 0 else self._list.action_last)()

    def action_page(self, by: int) -> None:
        """Half a page of the finding."""
        page = self.query_one("#finding")
        page.scroll_relative(y=by * max(1, page.size.height // 2), animate=False)

    def action_open(self) -> None:
        """The finding alone, and back."""
        self.toggle_class("-open")
        self.call_after_refresh(self._draw_finding)

    def action_fix(self) -> None:
        """Run the remedy."""
        self._wish(self, "fix")

    def action_fix_all(self) -> None:
        """Run all remedies."""
        self._wish(self, "fix_all")

    def action_again(self) -> None:
        """Look again."""
        self._wish(self, "again")

    def action_copy(self) -> None:
        """All findings as text."""
        text = words.copied(self._looks)
        self.app.copy_to_clipboard(text)
        self.notify(f"copied the findings: {len(text)} characters", markup=False, timeout=2)

    def action_leave(self) -> None:
        """Back to the list, then to where it was opened."""
        if self.has_class("-open"):
            self.action_open()
        else:
            self.dismiss(None)
