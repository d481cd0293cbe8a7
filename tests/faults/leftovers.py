"""An outside watcher for V6: what of ours is on a host, by its own processes, sockets, timers and files."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

from dflashtui.text import printable

if TYPE_CHECKING:
    from tests.fleet.harness.fleet import TestFleet

DEADLINE_SECONDS = 10.0
OURS = ("journalctl --follow", "nvidia-smi", "python3 -", "systemd-stdio-bridge", "sshd: ", "flock")
NOT_OURS = ("sshd: /usr/sbin/sshd", "/usr/local/lib/fleet")
FOLDERS = ("/tmp", "/var/tmp", "/dev/shm", "/root", "/etc/systemd/system")  # noqa: S108 - on a host
SOCKETS = ("ss", "-Htn", "state", "established", "sport", "=", ":22")


class Left(NamedTuple):
    """What there is at one moment."""

    processes: tuple[str, ...]
    sockets: tuple[str, ...]
    timers: tuple[str, ...]
    files: tuple[str, ...]

    @property
    def followers(self) -> int:
        """Processes that follow the journal."""
        return sum(one.startswith("journalctl --follow") for one in self.processes)

    @property
    def logins(self) -> int:
        """SSH connections that the host believes in."""
        return len(self.sockets)


def left(fleet: TestFleet, host: str) -> Left:
    """Look, beside SSH."""
    running = fleet.check(host, "ps", "-eo", "args=", "--no-headers").decode(errors="replace").splitlines()
    sockets = fleet.check(host, *SOCKETS).decode().splitlines()
    timers = fleet.check(host, "systemctl", "list-timers", "--all", "--no-legend", "--plain").decode().splitlines()
    files = fleet.exec(host, "find", *FOLDERS, "-xdev", "-mindepth", "1", "-maxdepth", "2").stdout.decode()
    return Left(
        tuple(sorted(printable(one)[:120] for one in running if _is_ours(one))),
        tuple(one.split()[-1] for one in sockets),
        tuple(sorted(line.split()[-2] for line in timers if line.split())),
        tuple(sorted(one for one in files.splitlines() if "systemd-private" not in one)),
    )


def _is_ours(command: str) -> bool:
    return any(one in command for one in OURS) and not any(one in command for one in NOT_OURS)


def require_clean(fleet: TestFleet, host: str, before: Left, *, seconds: float = DEADLINE_SECONDS) -> None:
    """V6: within so many seconds the host has nothing that it had not `before`."""
    deadline = time.monotonic() + seconds
    while more := _more(before, left(fleet, host)):
        assert time.monotonic() < deadline, f"{host}: left over after {seconds} s: {more}"
        time.sleep(0.2)


def _more(before: Left, now: Left) -> list[str]:
    found: list[str] = []
    for had, has in zip(before, now, strict=True):
        rest = list(had)
        for one in has:
            if one in rest:
                rest.remove(one)
            else:
                found.append(one)
    return found
