"""`%` in a value: a specifier that is meant, or one by accident (systemd.unit(5), "Specifiers")."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

MEANINGS = {
    "a": "the architecture",
    "A": "the image version",
    "b": "the boot id",
    "B": "the build id",
    "C": "the cache folder",
    "d": "the credentials folder",
    "E": "the configuration folder",
    "f": "the unescaped file name",
    "g": "the group",
    "G": "the group id",
    "h": "the home folder",
    "H": "the host name",
    "i": "the instance",
    "I": "the unescaped instance",
    "j": "the last part of the name",
    "J": "the unescaped last part of the name",
    "l": "the short host name",
    "L": "the log folder",
    "m": "the machine id",
    "M": "the image id",
    "n": "the unit's name",
    "N": "the unit's name without suffix",
    "o": "the operating system's id",
    "p": "the prefix of the name",
    "P": "the unescaped prefix of the name",
    "q": "the pretty host name",
    "s": "the shell",
    "S": "the state folder",
    "t": "the runtime folder",
    "T": "the folder for temporary files",
    "u": "the user",
    "U": "the user id",
    "v": "the kernel release",
    "V": "the large folder for temporary files",
    "w": "the version id",
    "W": "the variant id",
    "y": "the unit file's path",
    "Y": "the unit file's folder",
    "D": "the shared data folder",
}
DATE_LETTERS = frozenset("YmdHMSyBbaAjp")
LEAST_DATE_LETTERS = 2
FOUND = re.compile(r"%(%|[A-Za-z])")
BOUNDARIES = frozenset("/=:,-_@.+~'\"([{")
HEX = re.compile(r"%[A-F0-9]{2}")


def accidents(text: str) -> Iterator[tuple[str, str]]:
    """Specifiers that are hardly meant: pairs of how it is written and what systemd puts there.

    One behind a letter or a digit (`50%done`), before a hexadecimal digit as in a URL (`%C3%A9`), in a date (`%Y-%m`).
    """
    found = [one for one in FOUND.finditer(text) if one[1] in MEANINGS]
    letters = {one[1] for one in found}
    is_date = len(letters & DATE_LETTERS) >= LEAST_DATE_LETTERS and letters <= DATE_LETTERS
    for one in found:
        before = text[: one.start()][-1:]
        is_behind_text = before != "" and before not in BOUNDARIES and not before.isspace()
        if is_date or is_behind_text or HEX.match(text, one.start()):
            yield one[0], MEANINGS[one[1]]


def used(text: str) -> set[str]:
    """The letters of all specifiers in a text."""
    return {one[1] for one in FOUND.finditer(text) if one[1] in MEANINGS}
