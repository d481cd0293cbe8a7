"""The one thread that talks to NVML: a call that hangs in the driver hangs nothing else."""

from __future__ import annotations

import os
import threading
import time
import traceback
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


def in_thread(name: str, target: Callable[[], None]) -> None:
    """Start a daemon thread; whatever it raises ends the program, for nobody would notice a missing thread."""

    def run() -> None:
        try:
            target()
        except BaseException:  # noqa: BLE001 - printed, and the program ends
            traceback.print_exc()
            os._exit(1)

    threading.Thread(target=run, name=name, daemon=True).start()


class Worker:
    """Reads when asked; at most one reading at a time."""

    def __init__(self, read: Callable[[float], dict[str, Any]], on_late: Callable[[], None]) -> None:
        """`on_late`: called from the thread when a reading came after its `wait` had given up."""
        self._read = read
        self._on_late = on_late
        self._lock = threading.Condition()
        self._asked_at: float | None = None
        self._reading: dict[str, Any] | None = None
        self._is_late = False
        in_thread("nvml", self._run)

    def ask(self) -> None:
        """Begin a reading, unless one is under way or waits to be taken."""
        with self._lock:
            if self._asked_at is None and self._reading is None:
                self._asked_at = time.monotonic()
                self._lock.notify_all()

    def wait(self, seconds: float) -> dict[str, Any]:
        """The reading, or `pending_seconds` if it does not come within `seconds`."""
        with self._lock:
            if self._lock.wait_for(lambda: self._reading is not None, seconds):
                reading, self._reading = self._reading, None
                return reading or {}
            self._is_late = True
            return {"pending_seconds": round(time.monotonic() - (self._asked_at or time.monotonic()), 1)}

    def _run(self) -> None:
        while True:
            with self._lock:
                self._lock.wait_for(lambda: self._asked_at is not None)
            reading = self._read(time.monotonic())
            with self._lock:
                self._reading, self._asked_at = reading, None
                was_late, self._is_late = self._is_late, False
                self._lock.notify_all()
            if was_late:
                self._on_late()
