"""Nothing that was typed is lost, however fast it comes."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.binding import Binding
from textual.widgets import Input, Static

from dflashtui.tui.type_ahead import TypeAhead
from tests.faults.marks import fault

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.binding import BindingType


class Rows(Static, can_focus=True):
    BINDINGS: ClassVar[list[BindingType]] = [Binding("slash", "filter", "filter")]

    def action_filter(self) -> None:
        prompt = self.screen.query_one(Input)
        prompt.display = True
        self.screen.set_focus(prompt)


class Prompted(TypeAhead):
    submitted: str | None = None

    def compose(self) -> ComposeResult:
        yield Rows("rows")
        yield Input()

    def on_mount(self) -> None:
        self.query_one(Input).display = False
        self.query_one(Rows).focus()

    def on_input_submitted(self, message: Input.Submitted) -> None:
        self.submitted = message.value


@fault("H7", how="keys in one burst", result="each reaches the prompt that the first opened")
async def test_a_burst_of_keys_reaches_the_prompt_that_its_first_key_opens() -> None:
    app = Prompted()
    async with app.run_test() as pilot:
        await pilot.pause()
        for key, character in [("slash", "/"), *((letter, letter) for letter in "hostile"), ("enter", "\r")]:
            app.post_message(events.Key(key, character))
        while app.submitted is None:
            await pilot.pause()
    assert app.submitted == "hostile"
