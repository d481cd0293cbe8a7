"""What a program's imports really meet: they are run, and what fails is mended, one by one, until nothing fails.

Runs by itself in a fresh interpreter: `python -I import_truth.py CODE FOLDER…`; prints what was met as JSON lines. Each
try is a child process, for a half-finished import leaves modules behind.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import json
import os
import re
import sys
import types
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_ROUNDS = 100
NAME = re.compile(r"cannot import name '(?P<name>\w+)' from (?:partially initialized module )?'(?P<module>[\w.]+)'")


class Stub(types.ModuleType):
    """A module that was missing: it has every name."""

    def __getattr__(self, name: str) -> type:
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {})


class Mended(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds what was missing in an earlier round, and everything below it."""

    def __init__(self, modules: set[str]) -> None:
        self.modules = modules

    def find_spec(self, name: str, *_more: object) -> importlib.machinery.ModuleSpec | None:
        is_known = any(name == one or name.startswith(one + ".") for one in self.modules)
        return importlib.machinery.ModuleSpec(name, self) if is_known else None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> Stub:
        found = Stub(spec.name)
        found.__path__ = []
        return found

    def exec_module(self, module: types.ModuleType) -> None:
        pass


class Named(importlib.abc.MetaPathFinder):
    """Gives modules the names that they lacked in an earlier round, while their own text runs and after."""

    def __init__(self, names: set[tuple[str, str]]) -> None:
        self.names = names

    def find_spec(self, name: str, path: Sequence[str] | None, *_more: object) -> importlib.machinery.ModuleSpec | None:
        mine = [one for module, one in self.names if module == name]
        spec = importlib.machinery.PathFinder.find_spec(name, path) if mine else None
        if spec is not None and spec.loader is not None:
            run = spec.loader.exec_module

            def named_first(module: types.ModuleType) -> None:
                vars(module).update(dict.fromkeys(mine, object))
                run(module)
                vars(module).update(dict.fromkeys(mine, object))

            spec.loader.exec_module = named_first  # type: ignore[method-assign]
        return spec


def met(code: str, modules: set[str], names: set[tuple[str, str]], seeded: set[str]) -> list[str] | None:
    """The fault that a run ends with: kind, module, name, words; `None`: it ends well. `seeded`: put there before."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        sys.meta_path[:0] = [Named(names)]
        sys.meta_path.append(Mended(modules))
        sys.modules.update({name: Stub(name) for name in seeded})
        for module, name in names:
            if module in sys.builtin_module_names:
                setattr(sys.modules[module], name, object)
        os.write(writing, json.dumps(fault(code)).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        found = json.loads(pipe.read())
    os.waitpid(child, 0)
    return found  # type: ignore[no-any-return]


def fault(code: str) -> list[str] | None:
    try:
        exec(code, {"__name__": "__started__"})  # noqa: S102 - a test's own
    except ImportError as problem:
        return of_import(problem)
    except SyntaxError as problem:
        return ["syntax", Path(problem.filename or "").stem, ""]
    except Exception as problem:  # noqa: BLE001 - whatever a text raises
        return ["raises", type(problem).__name__, ""]
    return None


def of_import(problem: ImportError) -> list[str]:
    if isinstance(problem, ModuleNotFoundError):
        return ["missing-module", problem.name or "", "", str(problem)]
    found = NAME.search(str(problem))
    if found:
        return ["missing-name", found["module"], found["name"]]
    cause = problem.__context__  # raised by hand, in place of the real one
    return of_import(cause) if isinstance(cause, ImportError) else ["other", "", str(problem)]


def main() -> None:
    code, *folders = sys.argv[1:]
    sys.path[:0] = folders
    modules: set[str] = set()
    names: set[tuple[str, str]] = set()
    seeded: set[str] = set()
    for _ in range(MOST_ROUNDS):
        found = met(code, modules, names, seeded)
        if found is None:
            return
        sys.stdout.write(json.dumps(found) + "\n")
        if found[0] == "missing-module":
            (seeded if found[3].endswith("is not a package") else modules).add(found[1])
        elif found[0] == "missing-name":
            names.add((found[1], found[2]))
            modules.add(f"{found[1]}.{found[2]}")
        else:
            return


if __name__ == "__main__":
    main()
