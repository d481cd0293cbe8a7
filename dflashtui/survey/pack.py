"""The survey as bytes for the stdin of a unit's interpreter. Runs on the console; standard library alone."""

from __future__ import annotations

import json
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

PACKAGE = "dflashtui.survey"
MODULES = (
    "place",
    "elf",
    "fatbin",
    "ldso",
    "sites",
    "metadata",
    "gpus",
    "machine",
    "distributions",
    "binaries",
    "files",
    "conditions",
    "bindings",
    "reading",
    "kept",
    "modules",
    "names",
    "effects",
    "sweep",
    "entry",
    "closed",
    "imports",
    "main",
)
"""In the order of their imports."""
STAGE = """\
import os
def read(count):
    kept = b""
    while len(kept) < count:
        more = os.read(0, count - len(kept))
        if not more:
            raise SystemExit("the survey was cut off")
        kept += more
    return kept
exec(read(int(read(9))))
"""
"""Runs the next text on stdin, and reads not a byte more: the rest is for what comes after it."""


def argv(python: str) -> tuple[str, ...]:
    """The command that `payload` is for, before a user is taken on."""
    return (python, "-I", "-S", "-X", "utf8", "-c", STAGE)


def payload(
    *,
    python: str,
    flags: Sequence[str] = (),
    directory: str | None = None,
    environment: Mapping[str, str] | None = None,
    request: Mapping[str, object],
) -> bytes:
    """What `argv` reads from its stdin, to the end. `flags`: the unit's own for its interpreter, such as `-s`."""
    order = {
        "python": python,
        "flags": list(flags),
        "directory": directory,
        "environment": dict(environment or {}),
        "bootstrap": STAGE,
    }
    first = f"{_own('enter')}\nenter({json.dumps(order)!r})\n".encode()
    return _framed(first) + _framed(_program()) + json.dumps(request).encode()


@lru_cache(maxsize=1)
def _program() -> bytes:
    sources = [(f"{PACKAGE}.{name}", _own(name)) for name in MODULES]
    return f"{_own('loader')}\nload({sources!r})\n".encode()


def _framed(text: bytes) -> bytes:
    return b"%09d%s" % (len(text), text)


def _own(name: str) -> str:
    return files(PACKAGE).joinpath(f"{name}.py").read_text(encoding="utf-8")
