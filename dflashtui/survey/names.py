"""Whether a module has a name, and what else it can be asked without importing it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterator

from dflashtui.survey.bindings import OWN_NAMES

if TYPE_CHECKING:
    from dflashtui.survey.kept import Kept
    from dflashtui.survey.modules import Module, Modules

HANDED_ON = 5
"""How often a name may be imported from where it was imported."""
NOTHING: dict[str, Any] = {"tree": [], "names": [], "stars": []}


class Names:
    """Answers `True`, `False`, or `None` where only a run could tell."""

    def __init__(self, modules: Modules, kept: Kept) -> None:
        self._modules = modules
        self._kept = kept
        self._sets: dict[str, frozenset[str]] = {}
        self._functions: dict[str, dict[str, Any]] = {}

    def lookup(self, module: Module, name: str) -> tuple[str | None, bool | None]:
        """What `from module import name` finds: a submodule that it imports, else whether the name is there."""
        if self._binds(module, name):
            return None, True
        if module.folders is not None:
            inner = self._modules.find("%s.%s" % (module.name, name))
            if inner.kind in {"source", "namespace", "opaque"}:
                return inner.name, True
            if inner.kind != "missing":
                return None, None
        return None, self._has(module, name, set())

    def may_appear(self, name: str) -> bool:
        """Whether something may put a module of that name in place, though no file is there."""
        parent = self._modules.find(name.rpartition(".")[0]) if "." in name else None
        if parent is None or parent.kind != "source":
            return False
        record = self.record(parent)
        return bool(record.get("path") or record.get("dynamic")) or name in record.get("put", ())

    def record(self, module: Module) -> dict[str, Any]:
        """The module's record; an empty one, where there is no text to be read."""
        if module.kind != "source" or module.file is None:
            return NOTHING
        try:
            return self._kept.of(module.file)
        except OSError:
            return {**NOTHING, "dynamic": True}

    def function(self, module: Module, name: str, depth: int = 0) -> tuple[Module, list[Any]] | None:
        """The function that a module calls by that name: whose it is, and its body."""
        known = self._functions.get(module.name)
        if known is None:
            known = self._functions[module.name] = dict(_functions(self.record(module)["tree"]))
        found = known.get(name)
        if found is None or found[0] == "d":
            return None if found is None else (module, found[2])
        target = absolute(module, found[2], found[3])
        if target is None or depth > HANDED_ON:
            return None
        owner = self._modules.find(target)
        original = _renamed(found).get(name, name)
        return self.function(owner, original, depth + 1) if owner.is_followed else None

    def _binds(self, module: Module, name: str) -> bool:
        return module.kind == "source" and name in self._set(module)

    def _has(self, module: Module, name: str, seen: set[str]) -> bool | None:
        """Of a name that is no submodule."""
        if module.kind == "namespace":
            return False
        if module.kind != "source":
            return _of_builtin(module, name)
        if name in self._set(module) or name in OWN_NAMES:
            return True
        record = self.record(module)
        if "error" in record or record.get("dynamic") or "__getattr__" in self._set(module):
            return None
        if module.folders is not None and record.get("path"):
            return None
        return self._by_stars(module, name, seen)

    def _by_stars(self, module: Module, name: str, seen: set[str]) -> bool | None:
        answer: bool | None = False
        seen.add(module.name)
        for origin, level in self.record(module)["stars"]:
            target = absolute(module, origin, level)
            if target is None or target in seen:
                continue
            found = self._through_star(self._modules.find(target), name, seen)
            if found:
                return True
            answer = None if found is None else answer
        return answer

    def _through_star(self, module: Module, name: str, seen: set[str]) -> bool | None:
        listed = self.record(module).get("all", False)
        if isinstance(listed, list):
            return name in listed
        if listed is False and name.startswith("_"):
            return False
        if module.kind in {"missing", "broken"}:
            return None
        found = self._has(module, name, seen)
        return None if listed is None and not found else found

    def _set(self, module: Module) -> frozenset[str]:
        found = self._sets.get(module.name)
        if found is None:
            record = self.record(module)
            own = record.get("own", ()) if module.folders is None else ()
            found = self._sets[module.name] = frozenset((*record["names"], *own))
        return found


def _of_builtin(module: Module, name: str) -> bool | None:
    """Modules of the interpreter itself can be asked: they are there already."""
    if module.kind == "opaque" and module.file is None and module.is_standard:
        try:
            return hasattr(__import__(module.name), name)
        except ImportError:
            return None
    return None


def _renamed(node: list[Any]) -> dict[str, str]:
    """Names of an `f` node that the module calls otherwise: new name to old."""
    return node[5] if len(node) > 5 else {}  # noqa: PLR2004 - the last of a node's parts


def absolute(module: Module, name: str, level: int) -> str | None:
    """The name that an import means; `None`: it leaves the package."""
    if not level:
        return name
    parts = module.package.split(".") if module.package else []
    if level > len(parts):
        return None
    return ".".join([*parts[: len(parts) - level + 1], *([name] if name else [])])


def _functions(nodes: list[Any]) -> Iterator[tuple[str, list[Any]]]:
    """By name: a `d` node, or the `f` node that imports it."""
    for node in nodes:
        if node[0] == "d" and node[1]:
            yield node[1], node
        elif node[0] == "f":
            for name in (*node[4], *_renamed(node)):
                yield name, node
        elif node[0] == "?":
            yield from _functions(node[2])
            yield from _functions(node[3])
        elif node[0] == "t":
            yield from _functions(node[1])
