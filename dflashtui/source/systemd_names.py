"""Unit names: systemd's charset, globs, and the object paths that stand for them. Pure."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

UNIT_PATH = "/org/freedesktop/systemd1/unit/"
UNIT_NAME_MAX = 255
SUFFIXES = ("service", "socket", "target", "device", "mount", "automount", "swap", "timer", "path", "slice", "scope")
UNIT_NAME = re.compile(rf"[A-Za-z0-9:_.\\-][A-Za-z0-9:_.\\@-]*\.({'|'.join(SUFFIXES)})\Z")
GLOB = re.compile(r"[A-Za-z0-9:_.\\@*?\[\]!^-]+\Z")
GLOB_CHARS = frozenset("*?[")


def is_unit_name(name: str) -> bool:
    r"""Whether systemd takes `name` as it is; it would silently escape others (`a;b` becomes `a\x3bb.service`)."""
    return len(name) <= UNIT_NAME_MAX and UNIT_NAME.match(name) is not None


def is_glob(pattern: str) -> bool:
    """Whether `pattern` may stand for several units."""
    return not GLOB_CHARS.isdisjoint(pattern)


def full_pattern(pattern: str) -> str:
    """`pattern` with its suffix, as systemctl completes a plain name. Raises `ValueError`."""
    if is_glob(pattern):
        if len(pattern) > UNIT_NAME_MAX or not GLOB.match(pattern):
            raise ValueError(f"{pattern!r} is no pattern of unit names")
        return pattern
    name = pattern if is_unit_name(pattern) else f"{pattern}.service"
    if not is_unit_name(name):
        raise ValueError(f"{pattern!r} is no unit name: letters, digits and : _ . \\ - @, at most {UNIT_NAME_MAX}")
    return name


def is_template(name: str) -> bool:
    """Whether `name` is a template without an instance (`worker@.service`), which cannot be loaded."""
    return "@." in name


def matches(pattern: str, name: str) -> bool:
    """Whether a full pattern covers a unit name."""
    return fnmatchcase(name, pattern.replace("[^", "[!")) if is_glob(pattern) else name == pattern


def covered(patterns: Iterable[str], name: str) -> bool:
    """Whether any full pattern covers a unit name."""
    return any(matches(pattern, name) for pattern in patterns)


def unit_path(name: str) -> str:
    """The object path of a unit; reading it loads the unit, aliases lead to their target."""
    return UNIT_PATH + "".join(map(_escaped, range(len(name)), name))


def unit_name(path: str) -> str | None:
    """The unit of an object path; `None` if it is none's."""
    if not path.startswith(UNIT_PATH):
        return None
    return re.sub(r"_([0-9a-f]{2})", lambda found: chr(int(found[1], 16)), path.removeprefix(UNIT_PATH))


def _escaped(position: int, char: str) -> str:
    """sd-bus' label escaping: everything but ASCII letters and digits, and a digit in front."""
    plain = char.isascii() and char.isalnum() and not (position == 0 and char.isdigit())
    return char if plain else f"_{ord(char):02x}"
