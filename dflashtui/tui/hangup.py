"""Asked to end, or without its terminal, the console leaves in order: nobody could see or end it any more."""

from __future__ import annotations

import asyncio
import os
import select
import signal
import sys
import threading
import time
from contextlib import suppress

from textual.app import App

ASKED_TO_END = (signal.SIGTERM, signal.SIGHUP)
GRACE_SECONDS = 3.0
"""For leaving in order; the loop itself may hang on writing to the terminal that is gone."""
GONE = select.POLLHUP | select.POLLERR


class LeavesInOrder(App[int]):
    """An app that ends as a shell expects: 128 plus the signal's number, with the terminal put back."""

    def on_mount(self) -> None:
        """Watch for both, if there is a terminal."""
        if self.is_headless or not sys.stdin.isatty():
            return
        loop = asyncio.get_running_loop()
        for number in ASKED_TO_END:
            loop.add_signal_handler(number, self._leave, number)
        threading.Thread(target=self._watch_terminal, args=(loop,), name="hangup", daemon=True).start()

    def _leave(self, number: int) -> None:
        self.exit(return_code=128 + number)

    def _watch_terminal(self, loop: asyncio.AbstractEventLoop) -> None:
        """Textual's own reader does not: at the end of a terminal it asks again, forever, with a whole core (8.2)."""
        terminal = select.poll()
        terminal.register(sys.stdin.fileno(), 0)
        while not any(event & GONE for _, event in terminal.poll()):
            pass
        with suppress(RuntimeError):  # the loop is closed: it is leaving already
            loop.call_soon_threadsafe(self._leave, signal.SIGHUP)
        time.sleep(GRACE_SECONDS)
        os._exit(128 + signal.SIGHUP)
