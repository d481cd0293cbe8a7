"""A host's clock, stepped: every program that is started there from now on takes its time from a library of ours.

The kernel's clock is one for all containers and cannot be set for one of them. journald, journalctl, date and the
shells of new logins see the stepped time, the init process and the sshd that listens do not.
"""

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .compiled import compiled
from .host import Host

SOURCES = Path(__file__).parent.parent / "clock"
LIBRARY = "/usr/local/lib/fleet-clock.so"
OFFSET = "/etc/fleet/clock"
PRELOAD = "/etc/ld.so.preload"
JOURNALD = "systemd-journald.service"


class SteppedClock:
    """The clock of one host."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self.offset_seconds = 0.0
        """Against the real time."""

    def step(self, seconds: float) -> None:
        """Forward, or back: for programs that run, too."""
        self.set(self.offset_seconds + seconds)

    def set(self, offset_seconds: float) -> None:
        """So far from the real time."""
        self.offset_seconds = offset_seconds
        with (self._host.root / OFFSET.lstrip("/")).open("r+b") as file:
            file.write(struct.pack("=q", round(offset_seconds * 1_000_000)))


@contextmanager
def stepped_clock(host: Host) -> Iterator[SteppedClock]:
    """Until the context is left; journald is restarted at both ends."""
    host.write_file(OFFSET, bytes(8))
    host.write_file(LIBRARY, compiled("clock", SOURCES, "-fPIC", "-shared").read_bytes(), mode=0o755)
    host.write_file(PRELOAD, f"{LIBRARY}\n".encode())
    _restart_journald(host)
    try:
        yield SteppedClock(host)
    finally:
        host.restore_file(PRELOAD, None)
        _restart_journald(host)
        host.restore_file(LIBRARY, None)
        host.restore_file(OFFSET, None)


def _restart_journald(host: Host) -> None:
    host.exec("systemctl", "reset-failed", JOURNALD)
    host.check("systemctl", "restart", JOURNALD)
