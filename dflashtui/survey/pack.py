"""The survey as bytes for the stdin of a unit's interpreter. Runs on the console; standard library alone."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from dflashtui.survey.main import TASKS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

PACKAGE = "dflashtui.survey"
OWN_IMPORT = re.compile(r"^from dflashtui\.survey\.(\w+) import", re.MULTILINE)
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
    request: Mapping[str, Any],
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
    tasks = tuple(name for name in TASKS if name in request["tasks"])
    return _framed(first) + _framed(_program(tasks)) + json.dumps(request).encode()


@lru_cache(maxsize=8)
def _program(tasks: tuple[str, ...]) -> bytes:
    sources = [(f"{PACKAGE}.{name}", _own(name)) for name in modules(tasks)]
    return f"{_own('loader')}\nload({sources!r})\n".encode()


def modules(tasks: Iterable[str]) -> tuple[str, ...]:
    """What these tasks need of the survey, in the order of their imports, `main` last."""
    ordered: dict[str, None] = {}
    for name in (*tasks, "main"):
        _take(name, ordered)
    return tuple(ordered)


def _take(name: str, ordered: dict[str, None]) -> None:
    for needed in OWN_IMPORT.findall(_own(name)):
        if needed not in ordered:
            _take(needed, ordered)
    ordered[name] = None


def _framed(text: bytes) -> bytes:
    return b"%09d%s" % (len(text), text)


def _own(name: str) -> str:
    return files(PACKAGE).joinpath(f"{name}.py").read_text(encoding="utf-8")
