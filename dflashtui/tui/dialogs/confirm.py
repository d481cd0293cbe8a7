"""The questions before a change, by weight (console conventions, part 6)."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NamedTuple

from textual import on
from textual.binding import Binding
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Button, Input, Static

from dflashtui.tui.bar import Bar, content_of, lines_of

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.binding import BindingType

    from dflashtui.tui.styled import Cell


class Question(NamedTuple):
    """What is asked."""

    title: Cell
    lines: tuple[Cell, ...]
    """Commands, units, hosts, what depends on them, and why it is heavy."""
    verb: str
    """The word on the button."""
    commands: str
    """What `c` copies."""
    word: str | None = None
    """What has to be typed; `None`: a key is enough."""


class Asking(ModalScreen[bool]):
    """What all questions have in common."""

    question: Question

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "refuse", "cancel", id="confirm.refuse"),
        Binding("ctrl+y", "copy", "copy the command", id="confirm.copy"),
    ]

    def action_refuse(self) -> None:
        """Nothing is sent."""
        self.dismiss(False)  # noqa: FBT003 - the answer

    def action_copy(self) -> None:
        """The exact commands."""
        self.app.copy_to_clipboard(self.question.commands)
        self.notify("copied the command", markup=False, timeout=2)


class LightConfirm(Asking):
    """One line in place: the command, `enter` or `escape`."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "accept", "run it", id="confirm.accept")]

    def __init__(self, question: Question) -> None:
        super().__init__()
        self.question = question

    def compose(self) -> ComposeResult:
        """The line stands where the footer was."""
        bar = Bar(id="light")
        bar.set_reactive(Bar.left, ((" ", ""), *self.question.title))
        keys: Cell = (("enter", "accent"), (" runs it  ", "dim"), ("esc", "accent"), (" cancels ", "dim"))
        bar.set_reactive(Bar.right, keys)
        yield bar

    def action_accept(self) -> None:
        """Send it."""
        self.dismiss(True)  # noqa: FBT003 - the answer


class Confirm(Asking):
    """A dialog with the focus on *Cancel*; a heavy one waits for a typed word."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left,right", "other_button", "choose", show=False, id="confirm.other"),
    ]

    def __init__(self, question: Question) -> None:
        super().__init__()
        self.question = question
        self._lines = question.lines
        self._text = Static(lines_of(question.lines), markup=False)

    def add(self, lines: tuple[Cell, ...]) -> None:
        """What became known while the question stands."""
        self._lines += lines
        self._text.update(lines_of(self._lines))

    def compose(self) -> ComposeResult:
        """What, where, why; then the buttons."""
        with Vertical(classes="dialog") as dialog:
            dialog.border_title = content_of(self.question.title)
            dialog.border_subtitle = Content("ctrl+y copies the command · escape cancels")
            with VerticalScroll(id="question", can_focus=False):
                yield self._text
            if self.question.word is not None:
                yield Static(
                    content_of((("type ", "dim"), (self.question.word, "strong"), (" to go on", "dim"))), id="ask"
                )
                yield Input(id="word", compact=True)
            with Horizontal(id="buttons"):
                yield Button(Content("Cancel"), id="cancel", compact=True)
                yield Button(
                    Content(self.question.verb), id="go", compact=True, disabled=self.question.word is not None
                )

    def on_mount(self) -> None:
        """Enter by mistake does nothing."""
        self.query_one(Input if self.question.word is not None else "#cancel").focus()

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        self.query_one("#go", Button).disabled = event.value != self.question.word

    @on(Input.Submitted)
    def _entered(self, event: Input.Submitted) -> None:
        if event.value == self.question.word:
            self.dismiss(True)  # noqa: FBT003 - the answer

    @on(Button.Pressed)
    def _pressed(self, event: Button.Pressed) -> None:
        self.dismiss(event.button.id == "go")

    def action_other_button(self) -> None:
        """From one button to the other."""
        self.query_one("#go" if self.query_one("#cancel").has_focus else "#cancel").focus()
