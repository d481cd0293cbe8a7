"""A program in a terminal of its own, whose output is read as it comes."""

from __future__ import annotations

import fcntl
import os
import re
import select
import signal
import struct
import subprocess
import termios
import time
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import TracebackType

SEQUENCES = re.compile(
    rb"\x1b\[[0-?]*[ -/]*[@-~]"  # CSI
    rb"|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)"  # OSC (a title may name a host), DCS
    rb"|\x1b[ -/]*[0-~]"
)
END_SECONDS = 5


class NeverSeenError(Exception):
    """What was waited for did not come; the message has the last text of the screen."""


class Terminal:
    """`rows` × `columns`, xterm-256color; ended by the context's end at the latest."""

    def __init__(
        self, argv: Sequence[str], *, columns: int = 120, rows: int = 40, environment: Mapping[str, str]
    ) -> None:
        self._master, follower = os.openpty()
        fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.output = bytearray()
        self.began = time.perf_counter()
        self._child = subprocess.Popen(
            argv,
            stdin=follower,
            stdout=follower,
            stderr=follower,
            env=dict(environment),
            preexec_fn=lambda: os.login_tty(follower),  # noqa: PLW1509 - this program has one thread
        )
        os.close(follower)

    @property
    def pid(self) -> int:
        return self._child.pid

    @property
    def has_ended(self) -> bool:
        return self._child.poll() is not None

    def wait_for(self, pattern: bytes, *, seconds: float = 15, since: int = 0) -> float:
        """The `time.perf_counter` of the read in which a pattern was complete, escape sequences left out.

        `since`: only what was printed after so many bytes. Raises `NeverSeenError`.
        """
        wanted = re.compile(pattern)
        deadline = time.perf_counter() + seconds
        while time.perf_counter() < deadline and not self.has_ended:
            if self._read(deadline):
                at = time.perf_counter()
                if wanted.search(self.text(since)):
                    return at
        raise NeverSeenError(f"{pattern!r} was not printed; the last was {self.text(since)[-300:]!r}")

    def text(self, since: int = 0) -> bytes:
        """What was printed, escape sequences left out."""
        return SEQUENCES.sub(b"", bytes(self.output[since:]))

    def drain(self, seconds: float) -> None:
        """Let it run, and read what it prints, as a terminal does."""
        deadline = time.perf_counter() + seconds
        while time.perf_counter() < deadline and not self.has_ended:
            self._read(deadline)

    def drain_until_quiet(self, quiet_seconds: float, *, seconds: float = 15) -> None:
        """Until nothing was printed for so long."""
        deadline = time.perf_counter() + seconds
        while time.perf_counter() < deadline and self._read(time.perf_counter() + quiet_seconds):
            pass

    def press(self, keys: bytes) -> float:
        """Press keys; gives the moment."""
        at = time.perf_counter()
        os.write(self._master, keys)
        return at

    def wait_for_end(self, *, seconds: float = 15) -> float:
        """The moment at which the program was gone. Raises `NeverSeenError`."""
        ended = os.pidfd_open(self._child.pid)
        try:
            return self._wait_for_end(ended, time.perf_counter() + seconds)
        finally:
            os.close(ended)

    def _wait_for_end(self, ended: int, deadline: float) -> float:
        reading = [self._master, ended]
        while (left := deadline - time.perf_counter()) > 0:
            ready, _, _ = select.select(reading, (), (), left)
            at = time.perf_counter()
            if ended in ready:
                return at
            if self._master in ready and not self._take():
                reading.remove(self._master)
        raise NeverSeenError(f"it still runs; the last was {self.text()[-300:]!r}")

    def _read(self, deadline: float) -> bool:
        """Whether something was printed before then."""
        left = deadline - time.perf_counter()
        if left <= 0 or not select.select((self._master,), (), (), left)[0]:
            return False
        return self._take()

    def _take(self) -> bool:
        try:
            piece = os.read(self._master, 1 << 16)
        except OSError:  # EIO: nobody holds the other end any more
            return False
        self.output += piece
        return bool(piece)

    def close(self) -> None:
        """End the program, by force if it must be."""
        if not self.has_ended:
            self._child.send_signal(signal.SIGTERM)
            try:
                self.wait_for_end(seconds=END_SECONDS)
            except NeverSeenError:
                self._child.kill()
        self._child.wait()
        os.close(self._master)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
