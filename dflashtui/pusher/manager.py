"""The service manager and its tools, as commands with time limits."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from typing import TYPE_CHECKING, Any, Callable

from dflashtui.pusher.pending import may_be_pending
from dflashtui.pusher.trouble import Refusal

if TYPE_CHECKING:
    from dflashtui.pusher.places import Places

ANSWER_SECONDS = 10
RELOAD_SECONDS = 90
VERIFY_SECONDS = 60
STRICT = ("--recursive-errors=no",)
"""Unknown keys and values are errors; known from systemd 250 on."""
UNIT_PROPERTIES = (
    "LoadState,LoadError,FragmentPath,DropInPaths,NeedDaemonReload,UnitFileState,ActiveState,SubState,MainPID,"
    "ExecMainStartTimestampMonotonic,ActiveEnterTimestampMonotonic"
)

LOAD_TIMES = ("UnitsLoadTimestampMonotonic", "UnitsLoadFinishTimestampMonotonic")
"""The first since systemd 250: of the last reload; the second: of the boot."""


class Manager:
    """`systemctl` and `systemd-analyze` of one manager."""

    def __init__(self, places: Places) -> None:
        self._places = places
        self._user = ("--user",) if places.is_user else ()

    def begun(
        self, *argv: str, cwd: str | None = None, first: Callable[[], None] | None = None
    ) -> subprocess.Popen[bytes]:
        """A started program. Raises `Refusal` if the host does not have it."""
        path = self._places.program(argv[0])
        if path is None:
            raise Refusal("no-program", "%s is not installed on this host" % argv[0])
        return subprocess.Popen(  # noqa: S603 - a program of the system, no shell
            (path, *argv[1:]),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self._places.environment(),
            cwd=cwd,
            start_new_session=True,
            preexec_fn=first,  # noqa: PLW1509 - the one thread beside waits for a line
        )

    def run(self, *argv: str, limit: float = ANSWER_SECONDS) -> tuple[int, str, str]:
        """Exit status, stdout and stderr."""
        return ended(self.begun(*argv), argv, limit)

    def systemctl(self, *argv: str, limit: float = ANSWER_SECONDS) -> tuple[int, str, str]:
        """As `run`."""
        return self.run("systemctl", *self._user, "--no-pager", *argv, limit=limit)

    def unit(self, name: str) -> dict[str, str] | None:
        """What the manager says of a unit; `None` for a template, which cannot be loaded."""
        if "@." in name:
            return None
        status, out, err = self.systemctl("show", "--property=" + UNIT_PROPERTIES, "--", name)
        if status:
            raise Refusal("manager", "systemctl show: %s" % (last_line(err) or "exit %d" % status))
        return properties(out)

    def reloaded_at(self) -> float | None:
        """When the manager last read its unit files, by the host's clock."""
        status, out, _ = self.systemctl("show", "--property=" + ",".join(LOAD_TIMES))
        return load_time(properties(out) if status == 0 else {})

    def pending(self) -> subprocess.Popen[bytes]:
        """Begin to ask which units have changes on disk that are not loaded; `pending_names` reads it."""
        return self.begun("systemctl", *self._user, "--no-pager", "show", "--property=" + ",".join(LOAD_TIMES))

    def pending_names(self, child: subprocess.Popen[bytes]) -> list[str]:
        """Units whose files changed since they were loaded; none known where the manager does not say.

        Each unit is asked about only where a file is younger than the last reload: all of them take 250 ms.
        """
        status, out, _ = ended(child, ("systemctl", "show"), ANSWER_SECONDS)
        if not may_be_pending(self._places.unit_folders, load_time(properties(out) if status == 0 else {})):
            return []
        status, out, _ = self.systemctl("show", "--property=Id,NeedDaemonReload", "--", "*")
        blocks = map(properties, out.split("\n\n")) if status == 0 else ()
        return sorted({one["Id"] for one in blocks if one.get("NeedDaemonReload") == "yes" and one.get("Id")})

    def reload(self) -> None:
        """One daemon-reload. Raises `Refusal`."""
        status, _, err = self.systemctl("daemon-reload", limit=RELOAD_SECONDS)
        if status:
            raise Refusal("reload", "systemctl daemon-reload: %s" % (last_line(err) or "exit %d" % status))

    def verification(
        self, path: str, strict: tuple[str, ...] = STRICT, first: Callable[[], None] | None = None
    ) -> subprocess.Popen[bytes]:
        """Begin to verify a file under its real name; `verdict` reads the answer. `first`: run in the new process."""
        argv = ("systemd-analyze", *self._user, "verify", "--man=no", *strict, "./" + os.path.basename(path))
        return self.begun(*argv, cwd=os.path.dirname(path), first=first)

    def verdict(self, child: subprocess.Popen[bytes], path: str) -> dict[str, Any]:
        """`status` (0: no error) and every line that it said: each is a finding."""
        status, out, err = ended(child, ("systemd-analyze", "verify"), VERIFY_SECONDS)
        if status and "unrecognized option" in err:
            again = self.verification(path, strict=())
            status, out, err = ended(again, ("systemd-analyze", "verify"), VERIFY_SECONDS)
        said = (out + err).replace(os.path.dirname(path) + "/", "")
        return {"status": status, "lines": [line for line in said.splitlines() if line.strip()]}


def ended(child: subprocess.Popen[bytes], argv: tuple[str, ...], limit: float) -> tuple[int, str, str]:
    """Exit status, stdout and stderr of a program that was begun. Raises `Refusal` when it takes too long."""
    try:
        out, err = child.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        child.communicate()
        raise Refusal("no-answer", "%s gave no answer within %d s" % (" ".join(argv[:2]), limit)) from None
    return child.returncode, out.decode("utf-8", "backslashreplace"), err.decode("utf-8", "backslashreplace")


def properties(out: str) -> dict[str, str]:
    """Key=Value lines."""
    return {key: value for key, _, value in (line.partition("=") for line in out.splitlines())}


def load_time(known: dict[str, str]) -> float | None:
    """When the manager last read its unit files, by the host's clock."""
    return wall_clock(max(int(known.get(name) or 0) for name in LOAD_TIMES))


def last_line(text: str) -> str:
    """The last line of what a program said."""
    return text.strip().rpartition("\n")[2]


def wall_clock(monotonic_usec: int) -> float | None:
    """Seconds since the epoch of a moment of this boot; 0 means never."""
    if not monotonic_usec:
        return None
    return time.time() - time.clock_gettime(time.CLOCK_MONOTONIC) + monotonic_usec / 1e6
