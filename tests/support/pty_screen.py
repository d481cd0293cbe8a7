"""The console in a terminal of its own: a real pty, read as a terminal reads it."""

from __future__ import annotations

import fcntl
import os
import select
import signal
import struct
import subprocess
import termios
import time
from typing import TYPE_CHECKING, Self

import pyte

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

DEADLINE_SECONDS = 30.0


class PtyScreen:
    """A program, its bytes, and the picture that they make."""

    def __init__(self, argv: Sequence[str], *, columns: int, rows: int, environment: Mapping[str, str]) -> None:
        self._master, follower = os.openpty()
        fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.raw = bytearray()
        self._screen = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self._screen)
        self.child = subprocess.Popen(
            argv,
            stdin=follower,
            stdout=follower,
            stderr=follower,
            env=dict(environment),
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509 - no other thread in these tests
        )
        os.close(follower)

    @property
    def lines(self) -> list[str]:
        """What stands on the screen."""
        return [line.rstrip() for line in self._screen.display]

    @property
    def has_echo(self) -> bool:
        """Whether the terminal shows what is typed, as a shell expects it after a program's end."""
        return bool(termios.tcgetattr(self._master)[3] & termios.ECHO)

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    def wait(self, what: Callable[[str], bool], *, seconds: float = DEADLINE_SECONDS) -> str:
        """Read until the picture is as wanted; gives it. Fails with the last picture."""
        deadline = time.monotonic() + seconds
        while not what(self.text):
            left = deadline - time.monotonic()
            assert left > 0, f"not seen within {seconds} s; the screen was:\n{self.text}"
            self.read(min(left, 0.2))
        return self.text

    def sees(self, *words: str) -> str:
        """Wait until all words stand on the screen."""
        return self.wait(lambda text: all(word in text for word in words))

    def press(self, *keys: str) -> None:
        """Type; `enter`, `escape`, `tab` and `ctrl+x` by name."""
        for key in keys:
            os.write(self._master, _bytes(key))

    def hang_up(self) -> None:
        """Take the terminal away, as a lost connection does."""
        os.close(self._master)
        self._master = os.open(os.devnull, os.O_RDWR)

    def wait_for_end(self, *, seconds: float = DEADLINE_SECONDS) -> int:
        """The exit status."""
        deadline = time.monotonic() + seconds
        while self.child.poll() is None:
            assert time.monotonic() < deadline, f"it still runs; the screen was:\n{self.text}"
            self.read(0.1)
        return self.child.returncode

    def read(self, seconds: float) -> None:
        """Take in what comes next, if anything does within so many seconds."""
        if not select.select((self._master,), (), (), seconds)[0]:
            return
        try:
            piece = os.read(self._master, 1 << 16)
        except OSError:  # EIO: nobody holds the other end any more
            time.sleep(seconds)
            return
        self.raw += piece
        self._stream.feed(piece)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.child.poll() is None:
            self.child.send_signal(signal.SIGTERM)
            try:
                self.child.wait(5)
            except subprocess.TimeoutExpired:
                self.child.kill()
        self.child.wait()
        os.close(self._master)


def _bytes(key: str) -> bytes:
    named = {"enter": b"\r", "escape": b"\x1b", "tab": b"\t", "space": b" ", "down": b"\x1b[B", "up": b"\x1b[A"}
    if key.startswith("ctrl+"):
        return bytes([ord(key[-1]) & 0x1F])
    return named.get(key) or key.encode()
