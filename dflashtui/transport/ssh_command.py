"""The one place where argv becomes a command line, and where its output is told from a talking login shell's."""

from __future__ import annotations

import secrets
import shlex
import string
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

PLAIN = frozenset(string.ascii_letters + string.digits + ' "#$%&()*+,-./:;<=>?@[]^_`{|}~')
"""Characters that sh, bash, dash, zsh, ksh, fish, csh and tcsh all take as they are between single quotes.

Not `'`; not a backslash, which fish reads; not `!`, which csh reads; not a newline, which csh refuses.
"""
BEGIN = "echo dflash:$0:$$; echo dflash:$0 >&2; export LC_ALL=C"
"""The mark with the process id. A shell that prints what it is told to run (`set -x`) does not print the mark."""
LONGEST_NOISE_BYTES = 4 * 2**10


class StartMark:
    """What our own output begins with: whatever comes before it was said by the login shell."""

    def __init__(self) -> None:
        self._token = secrets.token_hex(8)

    def command(self, argv: Sequence[str]) -> str:
        """A command line for any login shell, that replaces the shell by `argv` in the C locale.

        The login shell sees words in single quotes without a character that it could read in its own way; where an
        argument has one, /bin/sh restores it. Raises `ValueError` for a NUL, which no argument can hold.
        """
        if any("\0" in word for word in argv):
            raise ValueError(f"an argument holds a NUL character: {argv!r}")
        if all(PLAIN.issuperset(word) for word in argv):
            words = " ".join(f"'{word}'" for word in argv)
            return f"""exec /bin/sh -c '{BEGIN}; exec "$@"' {self._token} {words}"""
        return (
            f"""exec /bin/sh -c '{BEGIN}; eval "exec $(printf %b "$1")"' {self._token} '{_octal(shlex.join(argv))}'"""
        )

    def on_stdout(self) -> AfterMark:
        """A filter for stdout; it finds the process id, too."""
        return AfterMark(f"dflash:{self._token}:".encode())

    def on_stderr(self) -> AfterMark:
        """A filter for stderr."""
        return AfterMark(f"dflash:{self._token}".encode())


def _octal(script: str) -> str:
    """`script` with all but plain characters as `printf %b` reads them, byte by byte."""
    return "".join(
        char if char in PLAIN else "".join(f"\\0{byte:03o}" for byte in char.encode("utf-8", "surrogateescape"))
        for char in script
    )


class AfterMark:
    """Passes on what follows the line of the mark, and keeps a little of what came before."""

    def __init__(self, mark: bytes) -> None:
        self._mark = mark
        self.noise = bytearray()
        """Said before the mark; while the mark is not there, all that was said."""
        self.is_found = False
        self.value = b""
        """What the line of the mark ends with."""

    def __call__(self, data: bytes) -> bytes:
        """The part of `data` that is our command's own."""
        if self.is_found:
            return data
        self.noise += data
        start = self.noise.find(self._mark)
        end = self.noise.find(b"\n", start) if start >= 0 else -1
        if end < 0:
            del self.noise[: -LONGEST_NOISE_BYTES if start < 0 else 0]
            return b""
        self.is_found = True
        self.value = bytes(self.noise[start + len(self._mark) : end])
        rest = bytes(self.noise[end + 1 :])
        del self.noise[start:]
        return rest
