"""Text as systemd wants it written: arguments, assignments, plain values. Facts: systemd.service(5), systemd.syntax(7).

What `Exec…=` and `Environment=` take apart again gives the same text, byte for byte, but for what no unit can hold.
"""

from __future__ import annotations

import re

BARE = re.compile(r"[A-Za-z0-9_./:=,@+-]+\Z")
UNWRITABLE = re.compile(r"[\x00\n\r]")
ESCAPES = {"\\": "\\\\", '"': '\\"', "\t": "\\t"}
SHOWN = {"\0": "NUL", "\n": "newline", "\r": "carriage return"}


def argument(text: str) -> str:
    """One argument of `Exec…=`. Raises `ValueError` for a newline or NUL."""
    doubled = writable(text).replace("%", "%%").replace("$", "$$")
    return _quoted(doubled)


def assignment(name: str, value: str) -> str:
    """One `NAME=value` of `Environment=`, where `$` means nothing. Raises `ValueError` for a newline or NUL."""
    return _quoted(writable(f"{name}={value}").replace("%", "%%"))


def plain(text: str) -> str:
    """A value that is not split into words: `Description=`, a path.

    Raises `ValueError` for a newline or NUL, and for a backslash at the end, which would go on with the next line.
    """
    if text.endswith("\\"):
        raise ValueError("ends in a backslash, which no such value of a unit file can")
    return writable(text).replace("%", "%%")


def writable(text: str) -> str:
    """The text itself. Raises `ValueError` if it would end its line, or end before its end."""
    if found := UNWRITABLE.search(text):
        raise ValueError(f"holds a {SHOWN[found[0]]}, which no line of a unit file can")
    return text


def _quoted(text: str) -> str:
    if BARE.match(text):
        return text
    return '"' + "".join(ESCAPES.get(char, char) for char in text) + '"'
