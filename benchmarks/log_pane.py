"""The log pane: under a flood, over three hosts, searched, on a large journal; lnav beside it where that is fair."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from typing import TYPE_CHECKING

from benchmarks import inventory
from benchmarks.log_lines import line
from benchmarks.row import Figure, Row
from benchmarks.setting import say
from benchmarks.terminal import Terminal
from dflashtui.source.journal_entry import decode
from dflashtui.tui.log.model import LogModel
from dflashtui.tui.log.pattern import Pattern
from dflashtui.tui.log.record import record_of

if TYPE_CHECKING:
    from pathlib import Path

    from benchmarks.setting import Setting
    from dflashtui.tui.log.record import Record

FLOOD_SECONDS = 30
PRESS_SECONDS = 0.3
STAMPS = (rb"since start", rb"\xc2\xb7 gap", rb"\xc2\xb7 ago", rb"no times")
ENTRIES = 100_000
SEARCHES = {
    "words": "running-req: 9, #token: 1234",
    "expression": r"token: \d+7, thr.*line 99\d\d$",
    "nothing": "no such words",
}
BIG_HOST, BIG_UNIT = "gpu-c", "big.service"
BIG_BYTES = 2_000_000_000
BIG_JOURNAL = "[Journal]\nSystemMaxUse=4G\nSystemKeepFree=1G\nRateLimitIntervalSec=0\n"
WRITER = """import os, base64
out = os.fdopen(1, 'wb')
for number in range(%d):
    out.write(b'%%d ' %% number + base64.b64encode(os.urandom(1500)) + b'\\n')
"""


def measure(setting: Setting) -> tuple[Row, ...]:
    rows = [
        *_flood(setting, "20 000 lines/s from one host", 20_000, ["flood.service"]),
        *_flood(setting, "2 000 lines/s from each of 3 hosts", 6_000, ["a.service", "b.service", "c.service"]),
        *_search(setting),
    ]
    return (*rows, *_big(setting))


def _flood(setting: Setting, what: str, rate: int, units: list[str]) -> list[Row]:
    say(f"log pane: {what}, {FLOOD_SECONDS} s")
    setting.wait_for_quiet()
    report = setting.folder / "flood.json"
    report.unlink(missing_ok=True)
    argv = (sys.executable, "-m", "benchmarks.log_app", str(report), str(rate), str(FLOOD_SECONDS), *units)
    environment = dict(setting.environment) | {"PYTHONPATH": "."}
    waits: list[float] = []
    with Terminal(argv, environment=environment) as terminal:
        terminal.wait_for(rb"line \d+")
        until = time.perf_counter() + FLOOD_SECONDS - 2
        while time.perf_counter() < until:
            waits += _press(terminal, until)
        deadline = time.perf_counter() + 45
        while not report.exists() and time.perf_counter() < deadline:
            terminal.drain(0.2)
    found = json.loads(report.read_text())
    slowest = sorted(waits)[max(0, round(len(waits) * 0.99) - 1)]
    notes = (f"{rate * FLOOD_SECONDS} lines written, {found['dropped_at_the_source']} left out and counted in gaps",)
    how = f"{FLOOD_SECONDS} s; source: a child process that prints what journalctl would"
    return [
        Row(
            f"log, {what}: key to picture",
            "s",
            Figure("p99", (slowest,)),
            f"t, {len(waits)} presses",
            0.05,
            notes=notes,
        ),
        Row(f"log, {what}: CPU", "%", Figure("", (found["cpu_percent"],)), how, 80),
        Row(f"log, {what}: memory", "MiB", Figure("", (found["peak_mib"],)), "peak, the whole process", 200),
        Row(
            f"log, {what}: newest line", "s", Figure("", (found["newest_seconds"],)), "after the last was written", 0.5
        ),
    ]


def _press(terminal: Terminal, until: float) -> list[float]:
    """Once through the kinds of time: each press draws every line anew."""
    waits: list[float] = []
    for word in STAMPS:
        if time.perf_counter() > until:
            return waits
        terminal.drain(PRESS_SECONDS)
        before = len(terminal.output)
        pressed = terminal.press(b"t")
        waits.append(terminal.wait_for(word, since=before) - pressed)
    terminal.press(b"t")
    return waits


def _search(setting: Setting) -> list[Row]:
    say(f"log pane: search in {ENTRIES} entries")
    setting.wait_for_quiet()
    records = [record_of(number, decode(line(number, "x.service"))) for number in range(ENTRIES)]
    model = LogModel()
    model.buffer.records = records
    model.rebuild()
    runs = {words: [_timed_search(model, words) for _ in range(setting.runs(5))] for words in SEARCHES.values()}
    beside = _lnav(setting, records)
    return [
        Row(
            f"search {ENTRIES} entries: {name}",
            "s",
            Figure("", tuple(runs[words])),
            f"/{words}, all judged and counted",
            0.1,
            other=beside if name == "words" else None,
        )
        for name, words in SEARCHES.items()
    ]


def _timed_search(model: LogModel, words: str) -> float:
    began = time.perf_counter()
    model.search(Pattern(words))
    return time.perf_counter() - began


def _lnav(setting: Setting, records: list[Record]) -> Figure | None:
    """The same lines as a file in lnav: from `enter` until the number of hits is there."""
    if shutil.which("lnav") is None:
        installed = subprocess.run(("apt-get", "install", "-y", "-qq", "lnav"), capture_output=True, check=False)
        if installed.returncode != 0:
            say("lnav cannot be installed here: nothing stands beside the search")
            return None
    path = setting.folder / "lines.log"
    path.write_text("".join(f"{record.texts[0]}\n" for record in records))
    environment = dict(setting.environment) | {"HOME": str(setting.folder)}
    return Figure("lnav", tuple(_lnav_search(path, environment) for _ in range(3)))


def _lnav_search(path: Path, environment: dict[str, str]) -> float:
    with Terminal(("lnav", str(path)), environment=environment) as terminal:
        terminal.wait_for(b"line 99999", seconds=60)
        terminal.drain_until_quiet(1.0)
        terminal.press(f"/{SEARCHES['words']}".encode())
        terminal.drain_until_quiet(1.0)
        before = len(terminal.output)
        pressed = terminal.press(b"\r")
        return terminal.wait_for(rb"[Hh]it", since=before) - pressed


def _big(setting: Setting) -> list[Row]:
    fleet = setting.fleet
    size = _journal_bytes(setting)
    if size < BIG_BYTES:
        say("log pane: writing a journal of 2 GB, some minutes")
        fleet.write_file(
            BIG_HOST, "/etc/systemd/journald.conf.d/big.conf", "[Journal]\nSystemMaxUse=4G\nRateLimitIntervalSec=0\n"
        )
        fleet.check(BIG_HOST, "systemctl", "restart", "systemd-journald")
        fleet.write_file(BIG_HOST, "/run/big.py", WRITER % 1_000_000)
        fleet.check(BIG_HOST, "systemd-run", "-q", "--wait", f"--unit={BIG_UNIT}", "python3", "/run/big.py")
        fleet.check(BIG_HOST, "journalctl", "--sync")
        size = _journal_bytes(setting)
    found = inventory.real(fleet, setting.folder / "big", units=(BIG_UNIT,), hosts=(BIG_HOST,))
    runs = tuple(_open(setting, found.hosts_toml) for _ in range(setting.runs(5)))
    note = f"journal of {size / 1e9:.1f} GB"
    how = "key 5 until the unit's last line is on screen"
    return [Row("log, opening a unit with a 2 GB journal", "s", Figure("", runs), how, 0.3, notes=(note,))]


def _journal_bytes(setting: Setting) -> int:
    output = setting.fleet.check(BIG_HOST, "du", "-sb", "/var/log/journal").split()
    return int(output[0])


def _open(setting: Setting, hosts_toml: Path) -> float:
    command = (*setting.command, "-c", str(hosts_toml))
    with Terminal(command, environment=setting.environment) as terminal:
        terminal.wait_for(rb"1/1 up")
        terminal.drain(3)
        before = len(terminal.output)
        pressed = terminal.press(b"5")
        return terminal.wait_for(rb"\d{5,} [A-Za-z0-9+/]{20}", since=before) - pressed
