"""The console in a real terminal, on a host that says the worst in every place: watched by its bytes alone."""

from __future__ import annotations

import os
import re
import sys
import time
from typing import TYPE_CHECKING

import pytest

from tests.faults.hostile_host import floods, forbidden, hostile_host, hostile_inventory, traces
from tests.faults.marks import fault
from tests.faults.seed import seeded
from tests.support.pty_screen import PtyScreen

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.fake_host import FakeHost

COLUMNS, ROWS = 150, 40
OWN_SEQUENCES = re.compile(
    rb"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[78=>c]|\x1b\(B|\x1b\]22;[a-z-]*(?:\x07|\x1b\\)|\x1bP[+>]q?[0-9a-fA-F;|]*\x1b\\"
)
"""What Textual's driver itself writes: CSI, cursor saving, the mouse pointer's shape. No OSC 8, no OSC 52."""
OWN_CONTROLS = {"'\\r'"}
VIEWS = {"1": "fleet", "2": "host", "3": "services", "4": "gpus", "5": "logs", "6": "events"}
LOOKS = ("1", "2", "d", "escape", "y", "tab", "escape", "3", "4", "5", "6", "2", "c", "escape", "x", "escape", "a")
"""Every view, the details, the unit file, the menu of copies, the crash card, the menu of actions."""
FLOOD, FEWEST_LINES = 10**6, 50_000
FLOOD_SECONDS = 100.0
KEYS = ("k", "k", "g", "G", "z", "n", "G", "k", "k", "G")
"""In the log, while lines come: moving, jumping to errors, folding, counting, and back to the newest."""


def console(folder: Path, host: FakeHost) -> PtyScreen:
    environment = {**os.environ, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8", "PATH": host.path, "HOME": str(folder)}
    environment |= {f"XDG_{name}_HOME": str(folder / name.lower()) for name in ("STATE", "CACHE", "CONFIG")}
    environment |= {"EDITOR": "true", "VISUAL": "true"}
    environment.pop("NO_COLOR", None)
    argv = (sys.executable, "-m", "dflashtui", "-c", str(folder / "hosts.toml"))
    return PtyScreen(argv, columns=COLUMNS, rows=ROWS, environment=environment)


def look(screen: PtyScreen, key: str) -> None:
    """Press it until it has done what it does: in a dialog the next key may copy, or run something."""
    screen.press(key)
    if key in VIEWS:
        screen.wait(lambda text: VIEWS[key] in text.partition("\n")[0])
    elif key != "tab":
        screen.wait(lambda text: is_open(text) is (key != "escape"))


def is_open(text: str) -> bool:
    """A dialog, or the crash card, which takes the whole screen."""
    return "╭─" in text or "crash of" in text.partition("\n")[0]


def require_clean(raw: bytes) -> None:
    """Beside the driver's own sequences only what is printed; no part of a secret."""
    text = OWN_SEQUENCES.sub(b"", raw).decode()
    assert set(forbidden(text)) <= OWN_CONTROLS
    assert "\t" not in text
    assert traces(raw) == []


@fault(
    "H2", how="escapes and C1 in all texts of a host, every view, in a pty", result="only the driver's own sequences"
)
@fault("I7", how="canary secrets in all texts of a host, every view, in a pty", result="no part of one on the terminal")
@fault("H1", how="links and actions as markup, in a pty", result="no OSC 8; letters as they are")
def test_every_view_of_a_hostile_host(tmp_path: Path) -> None:
    host = hostile_host(tmp_path, seeded("a hostile screen"))
    hostile_inventory(tmp_path)
    with console(tmp_path, host) as screen:
        screen.sees("hosts 1/1", "failed")
        for key in LOOKS:
            look(screen, key)
        look(screen, "escape")
        look(screen, "2")
        screen.press("l")
        screen.sees("password=***")
        screen.press("ctrl+q")
        assert screen.wait_for_end() == 0
        require_clean(bytes(screen.raw))
        assert b"[@click=app.quit]" in screen.raw
    written = [path for path in (tmp_path / "state").rglob("*") if path.is_file()]
    assert [path for path in written if traces(path.read_bytes())] == []


@pytest.mark.long
@pytest.mark.timeout(900)
@fault(
    "H2", how="hundreds of thousands of hostile lines into the log, in a pty", result="only the driver's own sequences"
)
def test_a_flood_of_hostile_lines_on_the_screen(tmp_path: Path) -> None:
    host = hostile_host(tmp_path, seeded("a flood"))
    hostile_inventory(tmp_path)
    written = floods(host, FLOOD)
    with console(tmp_path, host) as screen:
        screen.sees("hosts 1/1", "failed")
        screen.press("2")
        screen.wait(lambda text: "units 1" in text)
        screen.press("l")
        screen.wait(lambda text: "***" in text.partition("log ")[2])
        deadline = time.monotonic() + FLOOD_SECONDS
        while time.monotonic() < deadline:
            screen.press(KEYS[int(deadline - time.monotonic()) % len(KEYS)])
            screen.read(0.3)
        screen.press("ctrl+q")
        assert screen.wait_for_end() == 0
        require_clean(bytes(screen.raw))
    print(f"{written.read_text()} lines, {len(screen.raw)} bytes on the terminal")  # noqa: T201 - a figure
    assert int(written.read_text()) >= FEWEST_LINES
