"""A service that writes down each of its starts by itself: V3 counts them without asking anybody else."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.fleet.harness.fleet import TestFleet

UNIT = "counted.service"
PATH = f"/etc/systemd/system/{UNIT}"
LOG = "/run/counted-starts"
TEXT = """\
[Unit]
Description={description}

[Service]
Type={type}
ExecStartPre=/bin/sh -c 'echo "$INVOCATION_ID" >>{log}'
{more}ExecStart=/bin/sleep 1000
"""


def text(description: str = "counts its starts", type_: str = "exec", more: str = "") -> str:
    """Of its unit file. `more`: lines before ExecStart."""
    return TEXT.format(description=description, type=type_, more=more, log=LOG)


class Starts:
    """The start log on one host."""

    def __init__(self, fleet: TestFleet, host: str) -> None:
        self._fleet = fleet
        self._host = host

    @property
    def invocations(self) -> list[str]:
        """The invocation id of each start, in order."""
        return (self._fleet.hosts[self._host].find_file(LOG) or b"").decode().split()

    @property
    def count(self) -> int:
        return len(self.invocations)


@contextmanager
def counted(fleet: TestFleet, host: str, written: str | None = None) -> Iterator[Starts]:
    """The unit on a host, loaded and not running; nothing of it is left afterwards. `written`: another text."""
    fleet.exec(host, "rm", "-f", LOG)
    fleet.hosts[host].write_file(PATH, (written or text()).encode())
    fleet.check(host, "systemctl", "daemon-reload")
    try:
        yield Starts(fleet, host)
    finally:
        fleet.exec(host, "systemctl", "kill", "--signal=KILL", UNIT)
        fleet.exec(host, "systemctl", "stop", UNIT)
        fleet.exec(host, "systemctl", "reset-failed", UNIT)
        fleet.exec(host, "sh", "-c", f"rm -rf {PATH} {PATH}.d {LOG} /var/lib/dflashtui; systemctl daemon-reload")
