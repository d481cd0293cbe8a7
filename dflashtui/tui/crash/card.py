"""The crash card: why a run failed, what to do, and the keys that do it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.screen import Screen
from textual.widgets import Static

from dflashtui.text import printable
from dflashtui.tui.bar import Bar, lines_of
from dflashtui.tui.crash.lines import card_lines, cause_row, cause_text
from dflashtui.tui.details.parts import folded
from dflashtui.tui.dialogs.text import TextScreen
from dflashtui.tui.header import footer_left
from dflashtui.tui.help import all_keys, marked_up
from dflashtui.tui.keys import described, shown_key
from dflashtui.tui.mounted import has_parts
from dflashtui.tui.rows.words import unit_label
from dflashtui.tui.styled import EMPTY, Cell, cell, join, measured, plain

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.app import ComposeResult
    from textual.binding import BindingType

    from dflashtui.ops.remedy_value import HostRemedy
    from dflashtui.tui.crash.state import CardState
    from dflashtui.tui.subject import Subject

TICK_SECONDS = 0.5
LEAST_WIDTH = 30
EVIDENCE_WIDTH = 4000
ABOVE_CAUSE = 3


class CrashCard(Screen[None]):
    """Draws its `state`; what a key asks for is done by the screen below."""

    HELP = """The number of a remedy runs it, after a question. `F` runs the first cure and restarts the unit.

Signs at the left of the log: `▶` the cause, `│` its traceback, `▸` said by systemd."""
    CSS_PATH = "crash.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        *(
            Binding(str(key), f"remedy({key})", "run a remedy", show=key == 1, id=f"crash.remedy_{key}",
                    key_display="1-9", tooltip=f"Run remedy {key}; asks first")
            for key in range(1, 10)
        ),
        Binding("F", "fix", "fix and restart", id="crash.fix", tooltip="Run the cure, then restart; asks first"),
        Binding("R", "restart", "restart", id="crash.restart", tooltip="Restart the unit; asks first"),
        Binding("u", "undo", "undo push", show=False, id="crash.undo", tooltip="Put back what the last push replaced"),
        Binding("c", "copy", "copy cause", id="crash.copy", tooltip="Copy the cause"),
        Binding("C", "copy_all", "copy all", id="crash.copy_all", tooltip="Copy the whole evidence"),
        Binding("l", "log", "log", id="crash.log", tooltip="The log of this run, at the cause"),
        Binding("e", "cause", "to the cause", show=False, id="crash.cause", tooltip="To the cause in the log below"),
        Binding("right_square_bracket", "run(1)", "run before", id="crash.older", tooltip="The failed run before this"),
        Binding("left_square_bracket", "run(-1)", "later run", show=False, id="crash.newer", tooltip="The run after"),
        Binding("question_mark,f1", "help", "help", id="crash.help", tooltip="Keys of this card"),
        Binding("escape,q,x", "leave", "close", id="crash.leave"),
        Binding("j,down", "scroll(1)", "down", show=False, id="crash.down"),
        Binding("k,up", "scroll(-1)", "up", show=False, id="crash.up"),
        Binding("ctrl+d,pagedown", "page(1)", "page down", show=False, id="crash.page_down"),
        Binding("ctrl+u,pageup", "page(-1)", "page up", show=False, id="crash.page_up"),
        Binding("g,home", "far(-1)", "top", show=False, id="crash.first"),
        Binding("G,end", "far(1)", "end", show=False, id="crash.last"),
    ]  # fmt: skip

    def __init__(
        self,
        subject: Subject,
        state: CardState,
        renew: Callable[[CardState], CardState],
        want: Callable[[CrashCard, str, int], object],
        badges: Cell = EMPTY,
    ) -> None:
        """`renew` gives the same state with what is known of the unit now; `want` does what a key asks for.

        The wishes: `remedy`, `fix`, `restart`, `log`, `run`, with the number of the remedy or run.
        """
        super().__init__()
        self.subject = subject
        self.state = state
        self._renew = renew
        self._wish = want
        self._badges = badges
        self._text = Static(markup=False)
        self._lines: tuple[Cell, ...] = ()

    def compose(self) -> ComposeResult:
        """Header, page, footer."""
        yield Bar(id="header")
        with VerticalScroll(id="card"):
            yield self._text
        yield Bar(id="footer")

    def on_mount(self) -> None:
        """Draw, and go on drawing what changes."""
        self.query_one("#card").focus()
        self.bindings_updated_signal.subscribe(self, lambda _: self._draw_footer())
        self.set_interval(TICK_SECONDS, self._tick)
        self._draw()

    def show(self, **changes: object) -> None:
        """More is known. Remedies for another cause do not stay."""
        before = self.state.cause
        self.state = replace(self.state, **changes)  # type: ignore[arg-type]  # fields of CardState
        if "remedies" not in changes and self.state.cause != before:
            self.state = replace(self.state, remedies=None)
        if has_parts(self):
            self._draw()
            self.refresh_bindings()

    def on_resize(self) -> None:
        """Another width: other line breaks."""
        self.call_after_refresh(self._draw)

    def _tick(self) -> None:
        self.state = self._renew(self.state)
        self._draw()

    def _draw(self) -> None:
        page = self.query_one("#card")
        width = max(LEAST_WIDTH, page.size.width - 5)
        lines = folded(card_lines(self.state, width), width)
        if lines != self._lines:
            self._lines = lines
            self._text.update(lines_of(lines))
        header = self.query_one("#header", Bar)
        header.left, header.right = self._title(), self._marks()
        self._draw_footer()

    def _title(self) -> Cell:
        is_failure = self.state.cause is not None or self.state.run is None or self.state.run.problem is not None
        sign, what = (("× ", "bad"), "crash of ") if is_failure else (("○ ", "off"), "last run of ")
        name = ((unit_label(self.state.unit), "title"), (f" on {printable(self.state.host)}", ""))
        return ((" ", ""), sign, (what, "dim"), *name)

    def _marks(self) -> Cell:
        state = self.state
        which = cell(f"run {state.number} of {state.total}", "dim") if state.total > 1 else EMPTY
        return (*join((which, self._badges), "  "), (" ", ""))

    def _draw_footer(self) -> None:
        shown = {}
        for active in self.active_bindings.values():
            binding = active.binding
            if binding.show and active.enabled and binding.action not in shown:
                shown[binding.action] = (binding.key_display or shown_key(binding.key), binding.description)
        footer = self.query_one("#footer", Bar)
        footer.left = footer_left(shown.values(), self.size.width - measured(footer.right) - 2)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Whether a key works now: the footer shows nothing else."""
        state = self.state
        allowed: dict[str, Callable[[], bool]] = {
            "remedy": lambda: bool(state.runnable) and self._remedy_of(parameters) is not None,
            "fix": lambda: state.cure is not None,
            "restart": lambda: state.may_change and state.status is not None,
            "undo": lambda: state.can_undo,
            "copy": lambda: state.cause is not None,
            "cause": lambda: state.cause is not None,
            "log": lambda: state.run is not None,
            "run": lambda: self._other(parameters) is not None,
        }
        return allowed[action]() if action in allowed else True

    def _other(self, parameters: tuple[object, ...]) -> int | None:
        step = parameters[0] if parameters and isinstance(parameters[0], int) else 0
        number = self.state.number + step
        return number if self.state.number and 1 <= number <= self.state.total else None

    def _want(self, what: str, number: int = 0) -> None:
        self._wish(self, what, number)

    def _remedy_of(self, parameters: tuple[object, ...]) -> HostRemedy | None:
        key = parameters[0] if parameters and isinstance(parameters[0], int) else 0
        remedies = self.state.remedies or ()
        return remedies[key - 1] if 1 <= key <= len(remedies) else None

    def action_remedy(self, key: int) -> None:
        """Run a remedy, or say that there is nothing to run."""
        remedy = self._remedy_of((key,))
        if remedy is not None and remedy.argv:
            self._want("remedy", key)
        else:
            self.notify(f"{key} is advice: there is nothing to run", markup=False, timeout=3)

    def action_fix(self) -> None:
        """Run the cure, then restart."""
        self._want("fix")

    def action_restart(self) -> None:
        """Restart alone."""
        self._want("restart")

    def action_undo(self) -> None:
        """The unit file from before the last push."""
        self._want("undo")

    def action_log(self) -> None:
        """The log at the cause."""
        self._want("log")

    def action_run(self, step: int) -> None:
        """Another of the kept runs."""
        number = self._other((step,))
        if number is not None:
            self._want("run", number)

    def action_copy(self) -> None:
        """A few lines to paste."""
        if self.state.cause is not None:
            self._copy("the cause", cause_text(self.state.cause))

    def action_copy_all(self) -> None:
        """All that the card knows."""
        self._copy("the evidence", "\n".join(map(plain, (self._title(), *card_lines(self.state, EVIDENCE_WIDTH)))))

    def _copy(self, what: str, text: str) -> None:
        self.app.copy_to_clipboard(text)
        self.notify(f"copied {what}: {len(text)} characters", markup=False, timeout=2)

    def action_cause(self) -> None:
        """To the line of the log that tells it."""
        row = cause_row(self._lines)
        if row is not None:
            self.query_one("#card").scroll_to(y=max(0, row - ABOVE_CAUSE), animate=False)

    def action_scroll(self, by: int) -> None:
        """A line."""
        self.query_one("#card").scroll_relative(y=by, animate=False)

    def action_page(self, way: int) -> None:
        """Half a page."""
        page = self.query_one("#card")
        page.scroll_relative(y=way * max(1, page.size.height // 2), animate=False)

    def action_far(self, way: int) -> None:
        """To one end."""
        page = self.query_one("#card")
        (page.scroll_home if way < 0 else page.scroll_end)(animate=False)

    def action_help(self) -> None:
        """Keys, and what the signs at the left of the log mean."""
        keys = [([shown_key(key) for key in keys], words) for keys, words in described(type(self)).values()]
        lines = (*marked_up(self.HELP), *all_keys({"": keys}))
        self.app.push_screen(TextScreen(cell("crash card", "strong"), {"keys": lines}, "keys"))

    def action_leave(self) -> None:
        """Back to where it was opened."""
        self.dismiss(None)
