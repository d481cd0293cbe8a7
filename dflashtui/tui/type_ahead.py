"""Keys that arrive in one burst (a slow link, a paste) reach the prompt that the first of them opened."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual import events
from textual.app import App
from textual.widgets import Input

if TYPE_CHECKING:
    from textual.events import Event


class TypeAhead(App[int]):
    """An app whose prompts get every letter.

    Textual hands a key to the widget that has the focus when it *arrives*: `/` opens a prompt, but the letters that
    came with it are on their way to the list by then, and come back unused (Textual 8.2, `App.on_event`).
    """

    async def on_event(self, event: Event) -> None:
        """Give a letter that nobody took to the prompt: one that was meant for it would not come back."""
        if isinstance(event, events.Key) and event.is_forwarded and event.is_printable and event.character:
            prompt = self.focused
            if isinstance(prompt, Input):
                prompt.insert_text_at_cursor(event.character)
                return
        await super().on_event(event)
