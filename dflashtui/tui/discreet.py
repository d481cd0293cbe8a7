"""What leaves the console beside the screen's own cells: notifications and the clipboard, without secrets."""

from __future__ import annotations

from typing import Any

from textual.app import App

from dflashtui.mask import masked


class DiscreetApp(App[int]):
    """An app that masks what it is told to say."""

    def notify(self, message: str, **how: Any) -> None:  # noqa: ANN401 - the base class' own types
        """See `App.notify`."""
        super().notify(masked(message), **how)

    def copy_to_clipboard(self, text: str) -> None:
        """See `App.copy_to_clipboard`."""
        super().copy_to_clipboard(masked(text))
