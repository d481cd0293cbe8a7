"""What reaches a host, seen there: commands of the login shell, calls on the bus, runs of systemctl, changed files."""

from __future__ import annotations

import json
import subprocess
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.fleet.harness.fleet import TestFleet

FOLDER = "/run/reach"
MARK = f"{FOLDER}/began"
REAL = "/usr/local/lib/real-systemctl"
SHELL = "/usr/local/bin/reach-sh"
SHELL_TEXT = f"""#!/bin/bash
printf '%s\\0' "$*" >>{FOLDER}/shell
exec /bin/bash "$@"
"""
SYSTEMCTL_TEXT = f"""#!/bin/bash
[ "$(cat /proc/$PPID/comm)" = systemd ] || printf '%s\\0' "$*" >>{FOLDER}/systemctl
exec -a systemctl {REAL} "$@"
"""
MANAGER = "org.freedesktop.systemd1"
DRIVER = ("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus")
MONITOR = ("busctl", "--system", "--json=short", "monitor", MANAGER)
BUS_READS = frozenset(
    {
        *("Get", "GetAll", "GetUnit", "GetUnitByPID", "GetUnitFileState", "GetUnitProcesses", "Introspect", "ListJobs"),
        *("ListUnitFiles", "ListUnitFilesByPatterns", "ListUnits", "ListUnitsByNames", "ListUnitsByPatterns"),
        *("LoadUnit", "Ping", "Subscribe", "Unsubscribe"),
    }
)
SYSTEMCTL_READS = frozenset(
    {
        *("--version", "cat", "is-active", "is-enabled", "is-failed", "is-system-running", "list-jobs", "list-timers"),
        *("list-unit-files", "list-units", "show", "status"),
    }
)
OWN_WRITES = ("/run/reach/", "/var/log/", "/run/log/", "/run/systemd/", "/run/user/", "/run/utmp/", "/var/lib/systemd/")
LOGINS = frozenset({"/run", "/tmp", "/run/motd.dynamic"})  # noqa: S108 - on a host
"""Written by systemd, journald and pam for themselves."""


class Reach:
    """What reached one host since the watch began."""

    def __init__(self, fleet: TestFleet, host: str) -> None:
        self._fleet = fleet
        self._host = host
        self.bus_calls: list[str] = []

    @property
    def commands(self) -> list[str]:
        """What sshd gave to the login shell."""
        return self._lines("shell")

    @property
    def systemctl(self) -> list[str]:
        """Arguments of each run, whoever ran it."""
        return self._lines("systemctl")

    @property
    def changing_calls(self) -> list[str]:
        """Calls of the manager that change something, by whichever way they came."""
        runs = [one for one in self.systemctl if not SYSTEMCTL_READS & set(one.split())]
        return [one for one in self.bus_calls if one not in BUS_READS] + runs

    @property
    def changed_files(self) -> list[str]:
        """Files and folders of the host that are younger than the watch."""
        argv = ("find", "/", "-xdev", "-newer", MARK, "-print")
        found = self._fleet.exec(self._host, *argv).stdout.decode().splitlines()
        more = self._fleet.exec(self._host, "find", "/run", "/tmp", "-xdev", "-newer", MARK, "-type", "f")  # noqa: S108
        paths = [*found, *more.stdout.decode().splitlines()]
        return sorted(one for one in paths if one not in LOGINS and not f"{one}/".startswith(OWN_WRITES))

    def _lines(self, name: str) -> list[str]:
        data = self._fleet.hosts[self._host].find_file(f"{FOLDER}/{name}") or b""
        return [one.decode(errors="replace") for one in data.split(b"\0") if one]


@contextmanager
def reach(fleet: TestFleet, host: str, user: str = "root") -> Iterator[Reach]:
    """Watch what reaches a host by this login; `bus_calls` is there when the context has been left."""
    found = Reach(fleet, host)
    machine = fleet.hosts[host]
    passwd = fleet.read_file(host, "/etc/passwd").decode().splitlines()
    told = [f"{line.rpartition(':')[0]}:{SHELL}" if line.startswith(f"{user}:") else line for line in passwd]
    fleet.check(host, "sh", "-c", f"rm -rf {FOLDER}; mkdir -m 1777 {FOLDER}")
    fleet.check(host, "sh", "-c", f"grep -q {FOLDER} /usr/bin/systemctl || cp -a /usr/bin/systemctl {REAL}")
    fleet.check(host, "sh", "-c", f"cd {FOLDER}; umask 0; : >shell; : >systemctl")
    fleet.write_file(host, SHELL, SHELL_TEXT, mode=0o755)
    fleet.write_file(host, "/usr/bin/systemctl", SYSTEMCTL_TEXT, mode=0o755)
    fleet.write_file(host, "/etc/passwd", "\n".join(told) + "\n")
    with subprocess.Popen(machine.command(*MONITOR), stdout=subprocess.PIPE, stderr=subprocess.PIPE) as monitor:
        assert monitor.stderr is not None
        monitor.stderr.readline()  # "Monitoring bus message stream."
        fleet.check(host, "touch", MARK)
        time.sleep(0.02)  # the clock of file systems ticks every 4 to 10 ms
        try:
            yield found
        finally:
            names = [_owner(fleet, host, name) for name in (MANAGER, "org.freedesktop.login1")]
            fleet.check(host, "busctl", "call", MANAGER, "/", "org.freedesktop.DBus.Peer", "Ping")
            found.bus_calls = _calls(monitor, *names)


def _owner(fleet: TestFleet, host: str, name: str) -> str:
    """The unique name of who has it."""
    return fleet.check(host, "busctl", "call", *DRIVER, "GetNameOwner", "s", name).decode().split('"')[1]


def _calls(monitor: subprocess.Popen[bytes], manager: str, logind: str) -> list[str]:
    """The manager's members that were called by others than logind, up to our own ping."""
    assert monitor.stdout is not None
    calls: list[str] = []
    for line in monitor.stdout:
        said = json.loads(line)
        is_for_it = said.get("type") == "method_call" and said.get("destination") in {MANAGER, manager}
        if not is_for_it or said.get("sender") == logind:
            continue
        if said["member"] == "Ping":
            break
        calls.append(said["member"])
    monitor.terminate()
    return calls
