"""The console on real hosts, in a real terminal."""

from __future__ import annotations

import json
import os
import re
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from tests.support.pty_screen import PtyScreen

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.fleet.harness.fleet import TestFleet

pytestmark = pytest.mark.timeout(180)

WATCHED = '["counter.service", "hostile*.service"]'
"""Few enough for all of them to be on the screen."""
OWN_SEQUENCES = re.compile(
    rb"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[78=>c]|\x1b\(B|\x1b\]22;[a-z-]*(?:\x07|\x1b\\)|\x1bP[+>]q?[0-9a-fA-F;|]*\x1b\\"
)
"""What Textual's driver itself writes: CSI, cursor saving, the mouse pointer's shape."""


@contextmanager
def console(
    fleet: TestFleet, state: Path, *options: str, columns: int = 160, rows: int = 45, watched: str = WATCHED
) -> Iterator[PtyScreen]:
    environment = {**os.environ, "TERM": "xterm-256color", "XDG_STATE_HOME": str(state), "LC_ALL": "C.UTF-8"}
    environment.pop("NO_COLOR", None)
    config = state / "hosts.toml"
    config.write_text(re.sub(r"^units = .*$", f"units = {watched}", fleet.config_path.read_text(), flags=re.MULTILINE))
    argv = (sys.executable, "-m", "dflashtui", "-c", str(config), *options)
    with PtyScreen(argv, columns=columns, rows=rows, environment=environment) as screen:
        yield screen


def row(text: str, unit: str) -> str:
    """The line of a unit in the list of units."""
    return next((line for line in text.splitlines() if unit in line.split("log ", 1)[0]), "")


def choose(screen: PtyScreen, unit: str) -> None:
    """Go to the host's units and leave only this one in the list, as fingers do."""
    screen.sees("hosts 1/1 up")
    screen.press("2")
    screen.wait(lambda text: "active" in row(text, unit))
    screen.press("/")
    screen.sees("filter")
    screen.press(unit, "enter")
    screen.wait(lambda text: f"/{unit}" in text.splitlines()[1])


def test_a_unit_stopped_behind_its_back_changes_on_screen_without_a_key(fleet: TestFleet, tmp_path: Path) -> None:
    fleet.start("gpu-a", "counter.service")
    with console(fleet, tmp_path, "--host", "gpu-a") as screen:
        screen.sees("hosts 1/1 up")
        screen.press("2")
        screen.wait(lambda text: "active" in row(text, "counter"))
        fleet.stop("gpu-a", "counter.service")
        screen.wait(lambda text: "inactive" in row(text, "counter"))


def test_r_restarts_after_a_confirmation_and_leaves_an_audit_line(fleet: TestFleet, tmp_path: Path) -> None:
    fleet.start("gpu-a", "counter.service")
    before = fleet.show("gpu-a", "counter.service")["InvocationID"]
    with console(fleet, tmp_path, "--host", "gpu-a") as screen:
        choose(screen, "counter")
        screen.press("R")
        screen.sees("systemctl restart counter.service", "Cancel")
        assert fleet.show("gpu-a", "counter.service")["InvocationID"] == before
        screen.press("tab", "enter")
        audit = tmp_path / "dflashtui" / "audit.jsonl"
        screen.wait(lambda _: audit.exists() and audit.stat().st_size > 0)
    assert fleet.show("gpu-a", "counter.service")["InvocationID"] != before
    (line,) = audit.read_text().splitlines()
    written = json.loads(line)
    assert (written["host"], written["command"], written["ok"]) == ("gpu-a", "systemctl restart counter.service", True)


def test_escape_in_the_dialog_changes_nothing(fleet: TestFleet, tmp_path: Path) -> None:
    fleet.start("gpu-a", "counter.service")
    before = fleet.show("gpu-a", "counter.service")["InvocationID"]
    with console(fleet, tmp_path, "--host", "gpu-a") as screen:
        choose(screen, "counter")
        screen.press("R")
        screen.sees("systemctl restart counter.service")
        screen.press("escape")
        screen.wait(lambda text: "systemctl restart" not in text)
        screen.press("ctrl+q")
        assert screen.wait_for_end() == 0
    assert fleet.show("gpu-a", "counter.service")["InvocationID"] == before
    assert not (tmp_path / "dflashtui" / "audit.jsonl").exists()


def test_a_cut_host_is_said_with_age_and_the_console_still_leaves(fleet: TestFleet, tmp_path: Path) -> None:
    with console(fleet, tmp_path) as screen:
        screen.wait(lambda text: "hosts 3/3 up" in text and "not read yet" not in text)
        fleet.cut("gpu-b")
        screen.sees("hosts 2/3 up")
        assert "gpu-b" in screen.text
        screen.press("ctrl+q")
        assert screen.wait_for_end() == 0


def test_hostile_text_neither_reaches_the_terminal_nor_is_taken_for_markup(fleet: TestFleet, tmp_path: Path) -> None:
    unit = r"hostile-\x5b\x2fx\x5d.service"
    for name in ("hostile.service", unit):
        fleet.start("gpu-a", name)
    with console(fleet, tmp_path, "--host", "gpu-a", columns=200) as screen:
        choose(screen, "hostile")
        screen.sees("[/x]")
        screen.press("down")
        screen.press("6")
        screen.press("3")
        screen.sees("hostile")
        screen.press("ctrl+q")
        assert screen.wait_for_end() == 0
    foreign = OWN_SEQUENCES.sub(b"", bytes(screen.raw))
    assert b"pwned" not in re.sub(rb"[^\x1b]*", b"", foreign)
    assert b"\x1b" not in foreign
    assert not set(foreign) & {0x07, 0x0B, 0x0C, 0x7F}
    assert not re.search("[\u0080-\u009f\u202a-\u202e\u2066-\u2069]", foreign.decode("utf-8", "replace"))


def test_hosts_are_compared_and_a_remedy_of_the_preflight_runs(fleet: TestFleet, tmp_path: Path) -> None:
    unit = "/etc/systemd/system/preflight-masked.service"
    only = "/usr/local/lib/python3.11/dist-packages/only_here-1.0.dist-info"
    fleet.write_file("gpu-a", f"{only}/METADATA", "Metadata-Version: 2.1\nName: only-here\nVersion: 1.0\n")
    fleet.check("gpu-a", "ln", "-sf", "/dev/null", unit)
    fleet.check("gpu-a", "systemctl", "daemon-reload")
    try:
        with console(fleet, tmp_path, watched='["sglang-ok.service", "preflight-masked.service"]') as screen:
            screen.sees("hosts 3/3 up")
            screen.press("space", "space", "=")
            screen.sees("compare gpu-a, gpu-b", "only-here", "are the same")
            screen.press("=", "U", "g", "2")
            screen.wait(lambda text: "masked" in row(text, "preflight-masked"))
            screen.press("G", "v")
            screen.sees("is masked: no start is possible", "F fixes all")
            screen.press("F")
            screen.sees("systemctl unmask -- preflight-masked.service", "Cancel")
            screen.press("tab", "enter")
            screen.sees("it is looked at again", "escape closes")
            screen.press("q")
            screen.sees("has no preflight-masked.service")
    finally:
        fleet.check("gpu-a", "rm", "-rf", unit, only)
        fleet.check("gpu-a", "systemctl", "daemon-reload")
    (line,) = (tmp_path / "dflashtui" / "audit.jsonl").read_text().splitlines()
    assert json.loads(line)["command"] == "systemctl unmask -- preflight-masked.service"
