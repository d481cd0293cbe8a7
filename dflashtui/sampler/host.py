"""Facts of the host that need no GPU."""

from __future__ import annotations

import os
import time


def facts(proc: str = "/proc", shm: str = "/dev/shm") -> dict[str, object]:  # noqa: S108 - the file system, not a file
    """Clocks in seconds; `shm` and `memory` as used or available, and total, in bytes; load average of a minute."""
    found = {
        "shm": _shm(shm),
        "memory": _memory(os.path.join(proc, "meminfo")),
        "load": _first_number(os.path.join(proc, "loadavg")),
        "uptime": _first_number(os.path.join(proc, "uptime")),
    }
    return {
        "time": time.time(),
        "monotonic": time.monotonic(),
        **{key: value for key, value in found.items() if value is not None},
    }


def boot_id(proc: str = "/proc") -> str:
    """32 hex digits, as journald writes it."""
    return _text(os.path.join(proc, "sys/kernel/random/boot_id")).strip().replace("-", "")


def _shm(path: str) -> list[int] | None:
    try:
        found = os.statvfs(path)
    except OSError:
        return None
    return [(found.f_blocks - found.f_bfree) * found.f_frsize, found.f_blocks * found.f_frsize]


def _memory(path: str) -> list[int] | None:
    kibibytes = {line.partition(":")[0]: line.split()[1] for line in _text(path).splitlines()}
    try:
        return [int(kibibytes[key]) * 1024 for key in ("MemAvailable", "MemTotal")]
    except (KeyError, ValueError):
        return None


def _first_number(path: str) -> float | None:
    words = _text(path).split()
    return float(words[0]) if words else None


def _text(path: str) -> str:
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            return file.read()
    except OSError:
        return ""
