"""The one place where argv becomes a command line, and where its output is told from a talking login shell's."""

from __future__ import annotations

import secrets
import shlex
import string
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

PLAIN = frozenset((string.ascii_letters + string.digits + ' \t!"#$%&()*+,-./:;<=>?@[]^_`{|}~').replace("!", ""))
"""Characters that sh, bash, dash, zsh, ksh, fish, csh and tcsh all take as they are between single quotes.

Not `'`; not `\\`, which fish reads; not `!`, which csh reads; not a newline, which csh refuses.
"""
LONGEST_NOISE_BYTES = 4 * 2**10


class StartMark:
    """What our own output begins with: whatever comes before it was said by the login shell."""

    def __init__(self) -> None:
        self._token = secrets.token_hex(8)

    def command(self, argv: Sequence[str]) -> str:
        """A command line for any login shell, that replaces the shell by `argv` in the C locale.

        The login shell sees one word in single quotes without anything that it could read in its own way;
        /bin/sh restores it. The mark carries the process id. Raises `ValueError` for a NUL, which no argument can hold.
        """
        script = (
            f"printf 'dflash:%s:%s\\n' {self._token} $$; printf 'dflash:%s\\n' {self._token} >&2; "
            f"export LC_ALL=C; exec {shlex.join(argv)}"
        )
        if "\0" in script:
            raise ValueError(f"an argument holds a NUL character: {argv!r}")
        return f"""exec /bin/sh -c 'eval "$(printf %b "$1")"' sh '{_octal(script)}'"""

    def on_stdout(self) -> AfterMark:
        """A filter for stdout; it finds the process id, too."""
        return AfterMark(f"dflash:{self._token}:".encode())

    def on_stderr(self) -> AfterMark:
        """A filter for stderr."""
        return AfterMark(f"dflash:{self._token}".encode())


def _octal(script: str) -> str:
    """`script` with all but plain characters written as `printf %b` reads them, byte by byte."""
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
