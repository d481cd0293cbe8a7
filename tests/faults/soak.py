"""What a long run is measured by: memory and descriptors of a process over time, and paths that flap by chance."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import random
    from collections.abc import Sequence

    from tests.fleet.harness.fleet import TestFleet

UP_SECONDS, DOWN_SECONDS = (2.0, 25.0), (1.0, 20.0)
PAGE_BYTES = os.sysconf("SC_PAGESIZE")
TICKS = os.sysconf("SC_CLK_TCK")


class Sample(NamedTuple):
    """A process at one moment."""

    at_seconds: float
    memory_kib: float
    descriptors: float
    cpu_seconds: float


def sample(process_id: int) -> Sample:
    """As the kernel counts: resident memory, open files, time on the processor."""
    folder = Path(f"/proc/{process_id}")
    resident = int((folder / "statm").read_text().split()[1]) * PAGE_BYTES / 1024
    fields = (folder / "stat").read_text().rpartition(")")[2].split()
    cpu = (int(fields[11]) + int(fields[12])) / TICKS
    return Sample(time.monotonic(), resident, len(os.listdir(folder / "fd")), cpu)  # noqa: PTH208 - only counted


def waited_seconds(process_id: int) -> float:
    """How long its threads stood in the queue for a core so far: what others use here, its own fault or not."""
    waits = [_waited(path) for path in Path(f"/proc/{process_id}/task").glob("*/schedstat")]
    return sum(waits) / 1e9


def _waited(path: Path) -> int:
    try:
        return int(path.read_text().split()[1])
    except (FileNotFoundError, ProcessLookupError):
        return 0


def curve(samples: Sequence[Sample]) -> str:
    """Memory at each tenth of the time, in MiB."""
    step = max(1, len(samples) // 10)
    return " ".join(f"{one.memory_kib / 1024:.0f}" for one in samples[::step])


def slope(samples: Sequence[Sample], field: str) -> float:
    """Of the straight line that fits best, for each minute."""
    times = [one.at_seconds / 60 for one in samples]
    values = [float(getattr(one, field)) for one in samples]
    middle, level = sum(times) / len(times), sum(values) / len(values)
    spread = sum((at - middle) ** 2 for at in times)
    return sum((at - middle) * (value - level) for at, value in zip(times, values, strict=True)) / spread


class Flapping:
    """The path of one host: dead and alive by turns, as its source of chances says."""

    def __init__(self, fleet: TestFleet, host: str, chances: random.Random) -> None:
        self._fleet = fleet
        self._host = host
        self._chances = chances
        self._is_cut = False
        self.cuts = 0
        self._since = time.monotonic()
        self._next_at = self._since + chances.uniform(*UP_SECONDS)

    def __str__(self) -> str:
        return f"{self._host} {'cut' if self._is_cut else 'up'} for {time.monotonic() - self._since:.1f} s"

    def turn(self) -> None:
        """Whatever is due now."""
        if time.monotonic() < self._next_at:
            return
        self._is_cut = not self._is_cut
        self.cuts += self._is_cut
        (self._fleet.cut if self._is_cut else self._fleet.join)(self._host)
        self._since = time.monotonic()
        self._next_at = self._since + self._chances.uniform(*(DOWN_SECONDS if self._is_cut else UP_SECONDS))
