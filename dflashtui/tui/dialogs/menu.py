"""A menu: one line and one letter for each choice."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, NamedTuple

from textual import on
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from dflashtui.tui.bar import content_of

if TYPE_CHECKING:
    from textual import events
    from textual.app import ComposeResult
    from textual.binding import BindingType

    from dflashtui.tui.styled import Cell

LABEL_WIDTH = 18


class Choice(NamedTuple):
    """One line of a menu."""

    key: str
    label: str
    hint: str
    """What it does, or the value it gives; safe to print."""
    value: str
    """What the menu answers."""


class Menu(ModalScreen[str | None]):
    """Answers the value of the choice; `None` when it was left."""

    HELP = "Press a letter, or move with the arrows and press `enter`. `escape` leaves."
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "leave", id="menu.leave"),
    ]

    def __init__(self, title: Cell, choices: tuple[Choice, ...]) -> None:
        super().__init__()
        self._title = title
        self._choices = choices

    def compose(self) -> ComposeResult:
        """Title and choices."""
        with Vertical(classes="dialog menu") as dialog:
            dialog.border_title = content_of(self._title)
            dialog.border_subtitle = Content("enter chooses · escape leaves")
            yield OptionList(
                *(Option(content_of(_line(choice))) for choice in self._choices), compact=True, markup=False
            )

    @on(OptionList.OptionSelected)
    def _choose(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.dismiss(self._choices[event.option_index].value)

    def on_key(self, event: events.Key) -> None:
        """A letter chooses at once."""
        chosen = next((choice for choice in self._choices if event.character == choice.key), None)
        if chosen is not None:
            event.stop()
            self.dismiss(chosen.value)

    def action_leave(self) -> None:
        """Nothing was chosen."""
        self.dismiss(None)


def _line(choice: Choice) -> Cell:
    return ((f"{choice.key:<3}", "accent"), (f"{choice.label:<{LABEL_WIDTH}} ", ""), (choice.hint, "dim"))
