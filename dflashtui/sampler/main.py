"""The loop: a line a tick, orders from stdin, the end when stdin closes."""

from __future__ import annotations

import json
import os
import platform
import queue
import signal
import sys
import time
from typing import Any

import pynvml

from dflashtui.sampler.cgroups import usage
from dflashtui.sampler.host import boot_id, facts
from dflashtui.sampler.nvml import Nvml
from dflashtui.sampler.processes import ProcessTable
from dflashtui.sampler.worker import Worker, in_thread

FORMAT = 1
GRACE_SECONDS = 0.5
"""How long a tick waits for NVML; a later answer makes a line of its own."""
SAMPLE: dict[str, Any] = {"sample": True}


class Sampler:
    """Prints what it reads; orders: `interval_seconds`, `units` (control group by unit), `sample`."""

    def __init__(self, first_order: dict[str, Any]) -> None:
        self._interval = 2.0
        self._units: dict[str, str] = {}
        self._orders: queue.Queue[dict[str, Any]] = queue.Queue()
        self._worker = Worker(Nvml(pynvml, ProcessTable()).read, on_late=lambda: self._orders.put(SAMPLE))
        self._obey(first_order)

    def run(self) -> None:
        """Does not return: the thread that reads the orders ends the program."""
        in_thread("orders", self._read_orders)
        write({"sampler": FORMAT, "python": platform.python_version(), "boot_id": boot_id(), "uid": os.geteuid()})
        while True:
            began = time.monotonic()
            self._tick()
            self._rest(began)

    def _tick(self) -> None:
        self._worker.ask()
        reading = self._worker.wait(min(GRACE_SECONDS, self._interval / 2))
        units = {unit: usage(group) for unit, group in self._units.items()}
        write({**facts(), "units": units, **reading})

    def _rest(self, began: float) -> None:
        """Until the next tick is due, or somebody wants it now."""
        while True:
            left = began + self._interval - time.monotonic()
            try:
                order = self._orders.get(timeout=max(left, 0))
            except queue.Empty:
                return
            self._obey(order)
            if order.get("sample"):
                return

    def _obey(self, order: dict[str, Any]) -> None:
        self._interval = float(order.get("interval_seconds", self._interval))
        self._units = dict(order.get("units", self._units))

    def _read_orders(self) -> None:
        for line in sys.stdin.buffer:
            self._orders.put(json.loads(line))
        os._exit(0)


def write(values: dict[str, Any]) -> None:
    """One line. Ends the program when nobody reads any more."""
    line = json.dumps(values, separators=(",", ":")).encode() + b"\n"
    try:
        sys.stdout.buffer.write(line)
        sys.stdout.buffer.flush()
    except OSError:
        os._exit(0)


def run() -> None:
    """The program. A console's Ctrl-C is not meant for it: it ends with its stdin."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Sampler(json.loads(sys.stdin.buffer.readline())).run()
