"""Stopped from outside (`kill -STOP`) and continued, the console goes on as after ctrl+z."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING

from textual.app import App

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

    Handler = Callable[[int, FrameType | None], object]


class GoesOn(App[int]):
    """An app that leaves the terminal before it takes it anew.

    Textual (8.2, `LinuxDriver`) takes it anew at every SIGCONT. Where no SIGTSTP came before, it had not left: two
    threads read the keys then, each gets some of them, and at the end the terminal stays without echo.
    """

    _is_suspended = False

    def on_mount(self) -> None:
        """Stand before the driver's own handlers, where it has some."""
        stop, go_on = signal.getsignal(signal.SIGTSTP), signal.getsignal(signal.SIGCONT)
        if not self.is_headless and callable(stop) and callable(go_on):
            signal.signal(signal.SIGTSTP, self._before(stop, self._note_stop))
            signal.signal(signal.SIGCONT, self._before(go_on, self._leave_terminal))

    def _before(self, handler: Handler, first: Callable[[], None]) -> Handler:
        def handle(number: int, frame: FrameType | None) -> None:
            first()
            handler(number, frame)

        return handle

    def _note_stop(self) -> None:
        self._is_suspended = True

    def _leave_terminal(self) -> None:
        if not self._is_suspended and self._driver is not None:
            self._driver.suspend_application_mode()
        self._is_suspended = False
