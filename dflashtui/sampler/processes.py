"""What /proc says about the processes on a GPU."""

from __future__ import annotations

import os

from dflashtui.sampler.cgroups import holder
from dflashtui.sampler.masking import LIMIT, command_line

FRESH_SECONDS = 10.0
"""Engines rename their processes after the start, and a process can be moved to another unit."""
START_TIME = 19
"""Field 22 of /proc/PID/stat, counted from the one after the name."""
ARGUMENT_BYTES = 16384


class ProcessTable:
    """Remembers processes for a few seconds, so that a tick costs one small read for each."""

    def __init__(self, root: str = "/proc", users: str = "/etc/passwd") -> None:
        self._root = root
        self._users = _users(users)
        self._known: dict[int, tuple[bytes, float, dict[str, str]]] = {}

    def facts(self, pid: int, now: float) -> dict[str, str]:
        """`unit`, `held_by`, `command`, `user`, as far as known.

        Nothing for a pid that has no process here: NVML gives 0, or another namespace's, for those of containers.
        """
        started = self._start_time(pid)
        if started is None:
            self._known.pop(pid, None)
            return {}
        known = self._known.get(pid)
        if known is None or known[0] != started or now - known[1] > FRESH_SECONDS:
            known = self._known[pid] = (started, now, self._read(pid))
        return known[2]

    def forget(self, alive: set[int]) -> None:
        """Keep only these pids."""
        self._known = {pid: known for pid, known in self._known.items() if pid in alive}

    def _start_time(self, pid: int) -> bytes | None:
        fields = self._bytes(pid, "stat").rpartition(b")")[2].split()
        return fields[START_TIME] if len(fields) > START_TIME else None

    def _read(self, pid: int) -> dict[str, str]:
        unit, held_by = holder(self._text(pid, "cgroup"))
        found = {"unit": unit, "held_by": held_by, "command": self._command(pid), "user": self._user(pid)}
        return {key: value for key, value in found.items() if value}

    def _command(self, pid: int) -> str:
        arguments = self._text(pid, "cmdline").rstrip("\0")
        return command_line(arguments.split("\0")) if arguments else self._text(pid, "comm").strip()[:LIMIT]

    def _user(self, pid: int) -> str | None:
        try:
            uid = os.stat(os.path.join(self._root, str(pid))).st_uid
        except OSError:
            return None
        return self._users.get(uid, str(uid))

    def _text(self, pid: int, name: str) -> str:
        return self._bytes(pid, name).decode("utf-8", "backslashreplace")

    def _bytes(self, pid: int, name: str) -> bytes:
        try:
            with open(os.path.join(self._root, str(pid), name), "rb") as file:
                return file.read(ARGUMENT_BYTES)
        except OSError:
            return b""


def _users(path: str) -> dict[int, str]:
    """Read as text: a lookup through NSS may wait for a directory server."""
    try:
        with open(path, encoding="utf-8", errors="backslashreplace") as file:
            fields = [line.split(":") for line in file]
    except OSError:
        return {}
    return {int(field[2]): field[0] for field in reversed(fields) if field[2:] and field[2].isdigit()}
