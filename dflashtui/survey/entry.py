"""The program that a unit starts: its text, and the folder that its interpreter would search first."""

from __future__ import annotations

import os
import sys
from typing import Any

from dflashtui.survey.modules import Module, Modules


class NoEntry(Exception):
    """The program cannot be looked at; the text says why."""

    def __init__(self, why: str, *, is_missing: bool) -> None:
        """`is_missing`: it is not there, so that a start would fail."""
        super().__init__(why)
        self.is_missing = is_missing


def first_folder(entry: dict[str, Any], is_safe: bool) -> str | None:  # noqa: FBT001 - of an order in JSON
    """What stands first in `sys.path`. `is_safe`: by `-P`, `-I` or PYTHONSAFEPATH nothing does."""
    if entry["kind"] == "script":
        target = os.path.realpath(entry["target"])
        return target if os.path.isdir(target) else (None if is_safe else os.path.dirname(target))
    return None if is_safe else os.getcwd()


def main_module(entry: dict[str, Any], modules: Modules) -> Module:
    """The module `__main__`. Raises `NoEntry`."""
    main = _script(entry["target"]) if entry["kind"] == "script" else _runnable(entry["target"], modules)
    main.whose = "own"
    return main


def _script(target: str) -> Module:
    path = os.path.realpath(target)
    path = os.path.join(path, "__main__.py") if os.path.isdir(path) else path
    try:
        with open(path, "rb") as file:
            start = file.read(256)
    except OSError as problem:
        raise NoEntry("%s: %s" % (target, problem.strerror or problem), is_missing=True) from problem
    if b"\0" in start or (start[:2] == b"#!" and not _is_python(start)):
        raise NoEntry("%s is no Python program" % target, is_missing=False)
    return Module("__main__", "source", path)


def _is_python(start: bytes) -> bool:
    """By its first lines; installers write `#!/bin/sh` where a path is too long for the kernel."""
    return b"python" in start.split(b"\n", 1)[0] or b"'''exec'" in start


def _runnable(name: str, modules: Modules) -> Module:
    """As `-m` finds it: a package runs its `__main__`."""
    found = modules.find(name)
    if found.kind in {"source", "namespace"} and found.folders is not None:
        found = modules.find(name + ".__main__")
    if found.kind != "source":
        raise NoEntry("%s: No module named %s" % (sys.executable, found.name), is_missing=True)
    main = Module("__main__", "source", found.file, None)
    main.package = found.package
    return main
