"""What the measurements share: the fleet, a folder for files, the commands, the patience."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
import venv
from contextlib import ExitStack
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Self

from benchmarks.machine import busy_percent
from benchmarks.processes import schedule
from tests.fleet.harness import boot

if TYPE_CHECKING:
    from types import TracebackType

    from tests.fleet.harness.fleet import TestFleet

ROOT = Path(__file__).parent.parent
ISD = "isd-tui==0.6.1"
QUIET_PERCENT = 15


class Setting:
    """The fleet is booted when first asked for, and goes with the setting; so do the files."""

    def __init__(self, repeat: int | None = None, patience_seconds: float = 0) -> None:
        self._repeat = repeat
        self._patience_seconds = patience_seconds
        self._open = ExitStack()
        self.busy: list[float] = []
        """Percent of the cores that others used, just before each turn."""

    def runs(self, default: int) -> int:
        """How often to measure: what was asked for, else what the figure needs."""
        return self._repeat or default

    def wait_for_quiet(self) -> None:
        """Before a turn: note how busy the machine is, and wait while it is too busy and patience lasts."""
        deadline = time.monotonic() + self._patience_seconds
        while (busy := busy_percent()) > QUIET_PERCENT and time.monotonic() < deadline:
            pass
        self.busy.append(round(busy, 1))

    def go_ahead_of_others(self) -> None:
        """Give this program, the hosts, and with them all that they start, real-time priority."""
        hosts = [host.cgroup for host in self.fleet.hosts.values()]
        schedule(hosts, os.SCHED_RR, priority=1)
        self._open.callback(schedule, hosts, os.SCHED_OTHER, priority=0)

    @cached_property
    def folder(self) -> Path:
        return Path(self._open.enter_context(tempfile.TemporaryDirectory(prefix="dflashtui-bench-")))

    @cached_property
    def fleet(self) -> TestFleet:
        """Three real hosts: those of DFLASHTUI_FLEET_INSTANCE, else own ones. What is changed in them is undone."""
        if attach_to := os.environ.get("DFLASHTUI_FLEET_INSTANCE"):
            fleet = boot.attach(Path(attach_to))
        else:
            say("booting three hosts")
            fleet = self._open.enter_context(boot.running())
        self._open.callback(fleet.reset)
        return fleet

    @property
    def command(self) -> tuple[str, ...]:
        """The console script beside this Python, as a person would type it."""
        script = Path(sys.executable).with_name("dflashtui")
        return (str(script),) if script.exists() else (sys.executable, "-m", "dflashtui")

    @cached_property
    def environment(self) -> dict[str, str]:
        """A terminal of 256 colours, and no files of the user's own."""
        kept = {name: os.environ[name] for name in ("HOME", "PATH", "LANG", "VIRTUAL_ENV") if name in os.environ}
        own = {f"XDG_{name}_HOME": str(self.folder / name.lower()) for name in ("CONFIG", "STATE", "CACHE", "DATA")}
        return {"LANG": "C.UTF-8", **kept, **own, "TERM": "xterm-256color", "COLORTERM": "truecolor"}

    @cached_property
    def isd(self) -> tuple[str, ...]:
        """isd in a venv of its own, made once a machine."""
        folder = _cache() / ISD
        program = folder / "bin/isd"
        if not program.exists():
            say(f"installing {ISD} beside")
            venv.create(folder, with_pip=True, clear=True)
            subprocess.run((folder / "bin/pip", "install", "--quiet", ISD), check=True)
        return (str(program),)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.close()


def _cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "dflashtui-bench"


def say(line: str) -> None:
    """Progress: stderr, the table alone goes to stdout."""
    print(f"… {line}", file=sys.stderr, flush=True)
