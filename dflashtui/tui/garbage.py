"""When a console looks for objects that only refer to each other (the `gc` module): while nobody presses a key.

A look through all objects takes 0.1 to 0.4 s when 10 000 lines are kept, and under a flood Python's own thresholds ask
for one each second: a key waited 0.2 s for its picture (benchmarks/log_pane). Lines do not refer to themselves, so
nothing is lost by waiting.
"""

from __future__ import annotations

import gc
from time import monotonic
from typing import TYPE_CHECKING

from textual import events
from textual.app import App, ReturnType

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.events import Event

MOST_OBJECTS = 500_000
"""Made and not given back before a look is due at any moment, so that memory stays bounded: some 50 MiB."""
WORTH_OBJECTS, WORTH_ROUNDS = 20_000, 10
"""From where on a look is worth it, and after how many of those all objects are looked through."""
QUIET_SECONDS, LOOK_SECONDS = 3.0, 5.0
JUST_NOW_SECONDS = 0.05


def watch() -> None:
    """Begin: what was made until now stays for good and is never looked through."""
    gc.freeze()
    gc.set_threshold(MOST_OBJECTS, WORTH_ROUNDS, WORTH_ROUNDS)
    gc.enable()


class Tidying:
    """Looks while no key was pressed for a moment."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        """`clock`: in seconds."""
        self._clock = clock
        self._pressed_at = clock()

    @property
    def was_pressed_just_now(self) -> bool:
        """A person waits for the picture of a key."""
        return self._clock() - self._pressed_at < JUST_NOW_SECONDS

    def pressed(self) -> None:
        """A person is at work."""
        self._pressed_at = self._clock()

    def tidy(self) -> bool:
        """Look, if there is enough to look through and nobody waits; whether it was so."""
        young, _, rounds = gc.get_count()
        if young < WORTH_OBJECTS or self._clock() - self._pressed_at < QUIET_SECONDS:
            return False
        gc.collect(1 if rounds < WORTH_ROUNDS else 2)
        return True


class TidiesWhenQuiet(App[ReturnType]):
    """An app that does so."""

    def __init__(self) -> None:
        super().__init__()
        self.tidying = Tidying()

    def on_mount(self) -> None:
        """Beside everything else that a mount begins."""
        self.set_interval(LOOK_SECONDS, self.tidying.tidy)

    async def on_event(self, event: Event) -> None:
        """Keys, clicks and the wheel say that somebody waits."""
        if isinstance(event, events.InputEvent):
            self.tidying.pressed()
        await super().on_event(event)
