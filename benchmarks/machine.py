"""Where it was measured: without that a figure says nothing."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import time
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path


def machine() -> dict[str, object]:
    """Facts of this machine, these versions and this moment."""
    return {
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": _commit(),
        "cpu": _cpu(),
        "cores": len(os.sched_getaffinity(0)),
        "kernel": platform.release(),
        "python": sys.version.split()[0],
        "versions": {name: version(name) for name in ("textual", "asyncssh", "pydantic", "dbus-fast")},
        "ssh": subprocess.run(("ssh", "-V"), capture_output=True, text=True, check=False).stderr.strip(),
        "load_before": os.getloadavg()[0],
    }


def _cpu() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())


def _commit() -> str:
    """With a `+` where the tree has changes of its own."""
    done = subprocess.run(("git", "describe", "--always", "--dirty=+"), capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"


def busy_percent(seconds: float = 1) -> float:
    """How much of all cores was in use during a span, by whomever (proc(5), first line of stat)."""
    idle, total = _ticks()
    time.sleep(seconds)  # the span itself
    idle_after, total_after = _ticks()
    return 100 * (1 - (idle_after - idle) / max(1, total_after - total))


def _ticks() -> tuple[int, int]:
    ticks = [int(word) for word in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
    return ticks[3] + ticks[4], sum(ticks)
