"""The least that Textual can draw: what every program built on it pays before its first picture."""

from typing import ClassVar

from textual.app import App, ComposeResult
from textual.widgets import Static


class Bare(App[None]):
    ENABLE_COMMAND_PALETTE = False
    CSS: ClassVar[str] = "Static { height: 1fr; }"

    def compose(self) -> ComposeResult:
        yield Static("bare-first-frame")


if __name__ == "__main__":
    Bare().run()
