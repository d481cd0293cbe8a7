"""ctrl+q until the process is gone, while one host is cut off from the network."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks import inventory
from benchmarks.row import Figure, Row
from benchmarks.setting import say
from benchmarks.terminal import Terminal

if TYPE_CHECKING:
    from benchmarks.inventory import Inventory
    from benchmarks.setting import Setting

TARGET_SECONDS = 1
QUIT = b"\x11"
SETTLE_SECONDS = 4
LOST_SECONDS = 15
"""After that a dead link has been noticed, and the console is connecting again."""


def measure(setting: Setting) -> tuple[Row, ...]:
    found = inventory.real(setting.fleet, setting.folder / "quit")
    runs = setting.runs(5)
    cases = {
        "quit, all hosts up": 0,
        "quit, a host cut off 1 s ago": 1,
        "quit, a host cut off, reconnecting": LOST_SECONDS,
    }
    rows = []
    for what, cut_seconds in cases.items():
        say(f"quit: {what}, {runs} times")
        setting.wait_for_quiet()
        figure = Figure("", tuple(_quit(setting, found, cut_seconds) for _ in range(runs)))
        rows.append(Row(what, "s", figure, "ctrl+q to the end of the process, 3 hosts", TARGET_SECONDS))
    return tuple(rows)


def _quit(setting: Setting, found: Inventory, cut_seconds: int) -> float:
    fleet, last = setting.fleet, found.names[1]
    command = (*setting.command, "-c", str(found.hosts_toml))
    with Terminal(command, environment=setting.environment) as terminal:
        terminal.wait_for(rb"live")
        terminal.drain(SETTLE_SECONDS)
        if cut_seconds:
            fleet.cut(last)
            terminal.drain(cut_seconds)
        try:
            pressed = terminal.press(QUIT)
            return terminal.wait_for_end() - pressed
        finally:
            fleet.join(last)
