"""The loop: one JSON order a line, steps and one answer for each; the end when stdin closes or is silent for long."""

from __future__ import annotations

import json
import os
import pwd
import queue
import signal
import sys
import threading
from typing import TYPE_CHECKING, Any, Callable

from dflashtui.pusher.lock import Lock
from dflashtui.pusher.look import Look
from dflashtui.pusher.manager import Manager
from dflashtui.pusher.places import Places
from dflashtui.pusher.trouble import Refusal, refusal_of

if TYPE_CHECKING:
    from dflashtui.pusher.program import Program

FORMAT = 1
SILENCE_SECONDS = 60.0
"""A console that says nothing for so long is gone, whatever the network pretends: the lock must not outlive it."""


class Orders:
    """Looking needs half of the program; the other half is read when the first other order comes."""

    def __init__(self, places: Places, who: str, tell: Callable[[str], None]) -> None:
        """`tell(step)` is called as each step begins."""
        self._places = places
        self._who = who
        self._tell = tell
        self._lock = Lock(places.state)
        self._manager = Manager(places)
        self._look = Look(places, self._manager, self._lock)
        self._program: Program | None = None

    def answer(self, order: dict[str, Any]) -> dict[str, Any]:
        """Raises `Refusal`."""
        if order["do"] == "look":
            return self._look.unit(order["unit"])
        if self._program is None:
            from dflashtui.pusher.program import Program  # noqa: PLC0415 - see above

            self._program = Program(self._places, self._who, self._tell, self._manager, self._lock)
        return self._program.answer(order)

    def close(self) -> None:
        """In order: nothing staged is left, and nobody is told that we hold the lock."""
        if self._program is not None:
            self._program.close()


def write(values: dict[str, Any]) -> None:
    """One line. A console that is gone does not end what was begun: the next one reads the host."""
    try:
        sys.stdout.buffer.write(json.dumps(values, separators=(",", ":")).encode() + b"\n")
        sys.stdout.buffer.flush()
    except OSError:
        pass


def answered(orders: Orders, line: bytes) -> dict[str, Any]:
    """The answer to an order; a refusal is one, too."""
    try:
        order = json.loads(line)
        return {"answer": orders.answer(order)}
    except Refusal as refused:
        return {"refused": refused.kind, "words": refused.words}
    except OSError as problem:
        found = refusal_of(problem, str(problem.filename or ""))
        return {"refused": found.kind, "words": found.words}
    except (KeyError, TypeError, ValueError) as wrong:
        return {"refused": "bad-order", "words": "an order that cannot be read: %r" % wrong}


def run() -> None:
    """The program. A console's Ctrl-C is not meant for it: it ends with its stdin."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.umask(0o077)
    first = json.loads(sys.stdin.buffer.readline())
    lines: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda _number, _frame: lines.put(b""))  # what was begun is carried out
    threading.Thread(target=_read, args=(lines,), daemon=True).start()
    orders = Orders(Places(first), str(first.get("who", "?")), lambda step: write({"step": step}))
    write({"pusher": FORMAT, "python": "%d.%d.%d" % sys.version_info[:3], "user": _user(), "uid": os.geteuid()})
    try:
        _serve(orders, lines)
    finally:
        orders.close()
    sys.stdout.flush()
    os._exit(0)


def _user() -> str:
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:
        return str(os.geteuid())


def _serve(orders: Orders, lines: queue.SimpleQueue[bytes]) -> None:
    while True:
        try:
            line = lines.get(timeout=SILENCE_SECONDS)
        except queue.Empty:
            return
        if not line:
            return
        write(answered(orders, line))


def _read(lines: queue.SimpleQueue[bytes]) -> None:
    for line in sys.stdin.buffer:
        lines.put(line)
    lines.put(b"")
