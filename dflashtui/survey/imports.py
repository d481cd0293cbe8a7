"""The task `imports`: which imports of a program cannot be met, found without running it.

The order: `entry` (`kind` `module` or `script`, `target`), `is_safe` (the interpreter runs with -P or -I), `roots`
(more modules that the program surely imports in the end), `own` (top-level packages whose every import counts).

Facts: `{"kind": "fault", …}` (see `sweep`), `{"kind": "shadow", …}`, `{"kind": "no-entry", "why", "is_missing"}`, at
the end `{"kind": "summary", …}`, when the time ran out, too.
"""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING, Any, Callable, Iterator

from dflashtui.survey.effects import Judge
from dflashtui.survey.entry import NoEntry, first_folder, main_module
from dflashtui.survey.kept import Kept, folder
from dflashtui.survey.modules import STANDARD, Module, Modules, is_in_site
from dflashtui.survey.names import Names
from dflashtui.survey.owners import open_packages, owner
from dflashtui.survey.place import OutOfTime
from dflashtui.survey.sweep import Sweep

if TYPE_CHECKING:
    from dflashtui.survey.place import Place

MOST_SHADOWS = 20
SPARED = 0.1
"""Of the time limit: for keeping what was read, so that the next survey comes further."""


def found(order: dict[str, Any], place: Place) -> Iterator[dict[str, Any]]:
    """Each fault as it is found, then a summary."""
    began = time.monotonic()
    first = first_folder(order["entry"], order.get("is_safe", False))
    path = [*([first] if first else []), *place.path]
    yield from _shadows(path)
    kept = Kept(folder() if order.get("keeps", True) else None)
    modules = Modules(path, _whose(order, path))
    judge = Judge(modules, kept, Names(modules, kept), lambda: place.check(SPARED))
    sweep = Sweep(judge)
    try:
        yield from _faults(order, modules, sweep)
    except OutOfTime:
        yield _summary(began, kept, judge, sweep)
        kept.keep()
        raise
    yield _summary(began, kept, judge, sweep)
    kept.keep()


def _faults(order: dict[str, Any], modules: Modules, sweep: Sweep) -> Iterator[dict[str, Any]]:
    roots = [name for name in order.get("roots", ()) if modules.find(name).kind == "source"]
    try:
        main = main_module(order["entry"], modules)
    except NoEntry as problem:
        yield {"kind": "no-entry", "why": str(problem), "is_missing": problem.is_missing}
    else:
        modules.add(main)
        roots.insert(0, main.name)
    for fault in sweep.walk(roots):
        if fault["fault"] == "missing-module":
            fault["unreadable"] = modules.unreadable_folder(fault["module"])
        top = modules.find(fault["module"].partition(".")[0])
        fault["owner"] = owner(modules.path, top.name) if top.is_installed else None
        yield fault


def _whose(order: dict[str, Any], path: list[str]) -> Callable[[Module], str]:
    """Whose module it is, see `Module.whose`."""
    own = set(order.get("own", ()))
    if order["entry"]["kind"] == "module":
        own.add(order["entry"]["target"].partition(".")[0])
    others = open_packages(path)

    def whose(module: Module) -> str:
        top = module.name.partition(".")[0]
        if top in own:
            return "own"
        if module.is_standard:
            return ""
        if module.is_installed:
            return "other" if top in others else ""
        return "own"

    return whose


def _summary(began: float, kept: Kept, judge: Judge, sweep: Sweep) -> dict[str, Any]:
    followed = sum(judge.modules.find(name).is_followed for name in sweep.ways)
    return {
        "kind": "summary",
        "modules": len(sweep.ways),
        "followed": followed,
        "files": kept.asked,
        "parsed": kept.read,
        "unknown": len(judge.unknown),
        "seconds": round(time.monotonic() - began, 3),
        "python": ".".join(map(str, sys.version_info[:3])),
    }


def _shadows(path: list[str]) -> Iterator[dict[str, Any]]:
    """Files that stand before the standard library and are named as one of its modules."""
    standard = _standard_names()
    told = 0
    for place in dict.fromkeys(path):
        if os.path.realpath(place) == STANDARD or place.endswith(".zip"):
            return
        for name in sorted(standard.intersection(_modules_in(place))) if not is_in_site(place) else ():
            told += 1
            if told > MOST_SHADOWS:
                return
            yield {"kind": "shadow", "module": name, "folder": place}


def _standard_names() -> set[str]:
    names = set(getattr(sys, "stdlib_module_names", ())) or _modules_in(STANDARD) | set(sys.builtin_module_names)
    return {name for name in names if not name.startswith("_")} - {"test", "site", "this", "antigravity"}


def _modules_in(place: str) -> set[str]:
    try:
        with os.scandir(place) as entries:
            return {entry.name.partition(".")[0] for entry in entries if _is_module(entry)}
    except OSError:
        return set()


def _is_module(entry: os.DirEntry[str]) -> bool:
    if entry.name.endswith(".py"):
        return True
    return "." not in entry.name and os.path.exists(os.path.join(entry.path, "__init__.py"))
