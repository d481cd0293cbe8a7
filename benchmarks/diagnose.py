"""`dflashtui diagnose` on logs of half a gigabyte and one, against reading the same with grep."""

from __future__ import annotations

import os
import random
import subprocess
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarks.row import Figure, Row
from benchmarks.setting import ROOT, say

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from benchmarks.setting import Setting

FULL_BYTES = 1_000_000_000
TARGET_LINES_PER_SECOND = 200_000
TARGET_MEGABYTES = 60
CRASH = ROOT / "tests/data/crashlogs/vllm-workers-interleaved.log"
BLOCK_LINES = 20_000
ERROR_EVERY = 500
GREP = ("grep", "-n", "-A30", "-e", "Traceback", "-e", "Error")


@dataclass(frozen=True, slots=True)
class Reading:
    """One process that read the whole file."""

    seconds: float
    peak_megabytes: float


def measure(setting: Setting) -> tuple[Row, ...]:
    logs = {share: _log(setting.folder / f"diagnose-{share}.log", FULL_BYTES // share) for share in (2, 1)}
    lines = {share: _count(path) for share, path in logs.items()}
    readings: dict[str, list[Reading]] = {"half": [], "whole": [], "grep": []}
    for turn in range(setting.runs(3) + 1):
        say(f"diagnose: {turn or 'warming up'}")
        setting.wait_for_quiet()
        ways: dict[str, Callable[[], Reading]] = {
            "half": lambda: _read((*setting.command, "diagnose", "--json", str(logs[2])), 2),
            "whole": lambda: _read((*setting.command, "diagnose", "--json", str(logs[1])), 2),
            "grep": lambda: _read((*GREP, str(logs[1])), 0),
        }
        for name, way in ways.items():
            once = way()
            if turn:
                readings[name].append(once)
    for path in logs.values():
        path.unlink()
    return (_speed(readings, lines), _growth(readings), _memory(readings))


def _speed(readings: dict[str, list[Reading]], lines: dict[int, int]) -> Row:
    per_million = [reading.seconds / lines[1] * 1e6 for reading in readings["whole"]]
    grep = [reading.seconds / lines[1] * 1e6 for reading in readings["grep"]]
    best = round(1e6 / min(per_million))
    return Row(
        what="diagnose, a million lines",
        unit="s",
        ours=Figure("", tuple(per_million)),
        target=1e6 / TARGET_LINES_PER_SECOND,
        other=Figure("grep -n -A30, which leaves the reading", tuple(grep)),
        how=f"a log of 1 GB, {lines[1]:,} lines, one in {ERROR_EVERY} an error, the crash at its end; exec to exit",
        notes=(f"{best:,} lines/s at best",),
    )


def _growth(readings: dict[str, list[Reading]]) -> Row:
    ratios = tuple(
        whole.seconds / half.seconds for whole, half in zip(readings["whole"], readings["half"], strict=True)
    )
    return Row(
        what="  … twice the log takes",
        unit="times",
        ours=Figure("", ratios),
        target=2.2,
        how="1 GB against half of it, turn by turn",
    )


def _memory(readings: dict[str, list[Reading]]) -> Row:
    return Row(
        what="  … memory at its peak",
        unit="MB",
        ours=Figure("", tuple(reading.peak_megabytes for reading in readings["whole"])),
        target=TARGET_MEGABYTES,
        how="resident, of the process that read 1 GB",
    )


def _read(argv: tuple[str, ...], expected: int) -> Reading:
    """Run one reader; its peak comes from the kernel (`wait4`)."""
    began = time.perf_counter()
    process = subprocess.Popen(argv, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != expected:
        raise RuntimeError(f"{argv[:2]} ended with {process.returncode}")
    return Reading(seconds, used.ru_maxrss / 1024)


def _log(path: Path, size_bytes: int) -> Path:
    """A service of a week, and how it died: made anew, the same each time."""
    say(f"diagnose: writing {size_bytes / 1e6:.0f} MB")
    crash = CRASH.read_bytes()
    with path.open("wb") as file:
        for block in _blocks(random.Random(7)):  # noqa: S311 - figures for lines
            file.write(block)
            if file.tell() >= size_bytes - len(crash):
                break
        file.write(crash)
    return path


def _blocks(chance: random.Random) -> Iterator[bytes]:
    while True:
        yield "".join(_line(number, chance) for number in range(BLOCK_LINES)).encode()


def _line(number: int, chance: random.Random) -> str:
    at = f"2026-12-01 {number // 3600 % 24:02d}:{number // 60 % 60:02d}:{number % 60:02d}"
    if number % ERROR_EVERY == 0:
        return f"[{at}] ERROR: request {chance.getrandbits(64):x} was cancelled: client {number % 250} is gone\n"
    match number % 4:
        case 0:
            return f'INFO:     10.0.0.{number % 250}:{number} - "POST /v1/chat/completions HTTP/1.1" 200 OK\n'
        case 1:
            return (
                f"[{at} TP0] Prefill batch, #new-seq: 1, rid={chance.getrandbits(128):032x}, #cached-token: {number}\n"
            )
        case _:
            speed = chance.random() * 300
            return (
                f"[{at} TP0] Decode batch, #running-req: {number % 9}, #token: {number}, gen throughput: {speed:.2f}\n"
            )


def _count(path: Path) -> int:
    with path.open("rb") as file:
        return sum(chunk.count(b"\n") for chunk in iter(lambda: file.read(2**20), b""))
