"""A console that nobody can see any more does not go on, and one that is asked to end puts the terminal back."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tests.faults.marks import fault
from tests.support.pty_screen import PtyScreen

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ALTERNATE_SCREEN_OFF = b"\x1b[?1049l"


@contextmanager
def demo(state: Path) -> Iterator[PtyScreen]:
    environment = {**os.environ, "TERM": "xterm-256color", "XDG_STATE_HOME": str(state)}
    with PtyScreen(
        (sys.executable, "-m", "dflashtui", "--demo"), columns=100, rows=30, environment=environment
    ) as screen:
        screen.sees("ct129", "live")
        yield screen


def test_it_ends_when_its_terminal_is_gone(tmp_path: Path) -> None:
    with demo(tmp_path) as screen:
        screen.hang_up()
        assert screen.child.wait(30) == 128 + signal.SIGHUP


@fault("H5", how="SIGTERM", result="the terminal is put back")
def test_asked_to_end_it_puts_the_terminal_back(tmp_path: Path) -> None:
    with demo(tmp_path) as screen:
        screen.child.send_signal(signal.SIGTERM)
        assert screen.wait_for_end() == 128 + signal.SIGTERM
        assert ALTERNATE_SCREEN_OFF in screen.raw
