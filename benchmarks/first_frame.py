"""From the command to the first host name on the terminal, against a bare Textual screen and against isd."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import inventory, isd
from benchmarks.row import Figure, Row
from benchmarks.setting import ROOT, say
from benchmarks.terminal import Terminal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchmarks.setting import Setting

TARGET_SECONDS = 0.35
SETTLE_SECONDS = 0.2
BARE = "bare Textual"
ISD_FRAME, ISD_LIST = "isd, first picture", "isd, its list"


def measure(setting: Setting) -> tuple[Row, ...]:
    sample, fleet = ROOT / "hosts.toml", inventory.real(setting.fleet, setting.folder / "first_frame")
    demo_host = next(iter(tomllib.loads(sample.read_text())["hosts"]))
    bare = (sys.executable, str(Path(__file__).with_name("bare_textual.py")))
    isd_environment = isd.environment(setting)
    commands: dict[str, tuple[tuple[str, ...], str, Mapping[str, str]]] = {
        "demo": ((*setting.command, "--demo", "-c", str(sample)), re.escape(demo_host), setting.environment),
        "fleet": ((*setting.command, "-c", str(fleet.hosts_toml)), fleet.names[0], setting.environment),
        BARE: (bare, "bare-first-frame", setting.environment),
        ISD_FRAME: (setting.isd, isd.FIRST_PICTURE, isd_environment),
        ISD_LIST: (setting.isd, isd.FIRST_UNIT, isd_environment),
    }
    runs: dict[str, list[float]] = {name: [] for name in commands}
    for turn in range(setting.runs(15) + 1):
        say(f"first_frame: {turn or 'warming up'}")
        setting.wait_for_quiet()
        for name, (argv, pattern, environment) in commands.items():
            once = _first(argv, pattern.encode(), environment)
            if turn:
                runs[name].append(once)
    figures = {name: Figure(name, tuple(some)) for name, some in runs.items()}
    return (
        _row("--demo: first host on screen", figures["demo"], figures[BARE], None),
        _row("  … against isd's first picture", figures["demo"], figures[ISD_FRAME], 1),
        _row("-c FILE: first host on screen", figures["fleet"], figures[BARE], None),
        _row("  … against isd's first picture", figures["fleet"], figures[ISD_FRAME], 1),
        _row("  … against isd's list", figures["fleet"], figures[ISD_LIST], 1),
    )


def _row(what: str, ours: Figure, other: Figure, times: float | None) -> Row:
    how = "120×40 pty, from exec until the text is in the output; caches warm"
    return Row(what, "s", ours, how, target=TARGET_SECONDS, other=other, times_better=times)


def _first(argv: tuple[str, ...], pattern: bytes, environment: Mapping[str, str]) -> float:
    with Terminal(argv, environment=environment) as terminal:
        at = terminal.wait_for(pattern)
        terminal.drain_until_quiet(SETTLE_SECONDS)  # an orderly end, so that nothing runs beside the next
        return at - terminal.began
