"""Where modules are, as the unit's interpreter would find them, without importing any."""

from __future__ import annotations

import os
import pkgutil
import sys
from importlib.machinery import BuiltinImporter, FrozenImporter, ModuleSpec, PathFinder, SourceFileLoader
from typing import Any, Callable, Iterable

from dflashtui.survey.listing import Listings, real

STANDARD = os.path.dirname(os.path.realpath(os.__file__))
SITES = (os.sep + "site-packages", os.sep + "dist-packages")
KNOWN_FINDERS = ("_distutils_hack", "_virtualenv")
"""They mend `distutils` alone."""


class Module:
    """One module. `kind`: `source`, `namespace`, `opaque` (there, but no text), `missing`, `broken`, `unknown`."""

    __slots__ = ("file", "folders", "kind", "name", "package", "whose", "why")

    def __init__(
        self, name: str, kind: str, file: str | None = None, folders: list[str] | None = None, why: str = ""
    ) -> None:
        self.name = name
        self.kind = kind
        self.file = file
        self.folders = folders
        """Where its submodules are; `None`: it is no package."""
        self.why = why
        self.package = name if folders is not None else name.rpartition(".")[0]
        """What its relative imports start from."""
        self.whose = ""
        """`own`: everything that it does is followed; `other`: what it surely does; empty: nothing."""

    @property
    def is_followed(self) -> bool:
        """Whether its text is gone through."""
        return bool(self.whose)

    @property
    def is_standard(self) -> bool:
        """Of the standard library, or built in."""
        if self.file is None:
            return self.kind == "opaque" and self.name.partition(".")[0] in sys.builtin_module_names
        return is_under(self.file, STANDARD) and not is_in_site(self.file)

    @property
    def is_installed(self) -> bool:
        """In a folder of installed packages."""
        return any(is_in_site(place) for place in (self.file, *(self.folders or ())) if place)


def is_under(path: str, folder: str) -> bool:
    """Whether `path` lies in `folder`."""
    return path.startswith(folder + os.sep) or real(path).startswith(folder + os.sep)


def is_in_site(path: str) -> bool:
    """Whether it is a place of installed packages."""
    return any(site + os.sep in path + os.sep for site in SITES)


class Modules:
    """All of them, each looked for once."""

    def __init__(self, path: list[str], whose: Callable[[Module], str]) -> None:
        self.path = path
        self._whose = whose
        self._found: dict[str, Module] = {}
        self._listings = Listings()
        self._finders = [one for one in sys.meta_path if one not in (BuiltinImporter, FrozenImporter, PathFinder)]

    def find(self, name: str) -> Module:
        """The module of that absolute name."""
        found = self._found.get(name)
        if found is None:
            found = self._found[name] = self._look(name)
            found.whose = self._whose(found) if found.kind == "source" else ""
        return found

    def add(self, module: Module) -> None:
        """One that is there by other means: the program itself."""
        self._found[module.name] = module

    def unreadable_folder(self, name: str) -> str | None:
        """A folder that should have been searched for a module and cannot be."""
        parent, _, last = name.rpartition(".")
        for folder in (self.find(parent).folders or ()) if parent else self.path:
            if self._listings.is_closed(folder):
                return folder
            inner = os.path.join(folder, last)
            if self._listings.may_have(folder, last) and self._listings.is_closed(inner):
                return inner
        return None

    def _look(self, name: str) -> Module:
        parent = name.rpartition(".")[0]
        if not parent:
            return self._of_spec(name, self.path)
        above = self.find(parent)
        if above.kind in {"missing", "broken"}:
            return Module(name, above.kind, why=above.why)
        if above.folders is None:
            return Module(name, "unknown" if above.kind != "source" else "missing", why="%s is no package" % parent)
        return self._of_spec(name, above.folders)

    def _of_spec(self, name: str, path: Iterable[str]) -> Module:
        if name in sys.builtin_module_names:
            return Module(name, "opaque")
        try:
            spec = self._by_finders(name, None if "." not in name else list(path)) or self._in_folders(name, path)
            spec = spec or FrozenImporter.find_spec(name)
        except OSError as problem:
            return Module(name, "broken", why=str(problem))
        if spec is None:
            return _distutils(self, name) or Module(name, "missing")
        return _described(name, spec)

    def _by_finders(self, name: str, path: list[str] | None) -> Any:  # noqa: ANN401 - a spec or nothing
        """What editable installs say, whose finders are in place since the interpreter started."""
        for finder in self._finders:
            kind = finder if isinstance(finder, type) else type(finder)
            if kind.__module__ in KNOWN_FINDERS or not hasattr(finder, "find_spec"):
                continue
            if _builds(finder):
                return _promise(finder, name)
            try:
                spec = finder.find_spec(name, path)
            except Exception:  # noqa: BLE001, S112 - a finder that fails finds nothing
                continue
            if spec is not None:
                return spec
        return None

    def _in_folders(self, name: str, path: Iterable[str]) -> Any:  # noqa: ANN401 - a spec or nothing
        """As `PathFinder`, which wants the packages above to be imported."""
        portions: list[str] = []
        last = name.rpartition(".")[2]
        for folder in path:
            importer = pkgutil.get_importer(folder) if self._listings.may_have(folder, last) else None
            spec = importer.find_spec(name) if importer is not None and hasattr(importer, "find_spec") else None
            if spec is None:
                continue
            if spec.loader is not None:
                return spec
            portions += list(spec.submodule_search_locations or ())
        if not portions:
            return None
        found = ModuleSpec(name, None, is_package=True)
        found.submodule_search_locations = portions
        return found


def _builds(finder: object) -> bool:
    """Finders of scikit-build-core and meson-python compile when they are asked."""
    return any(hasattr(finder, name) for name in ("rebuild", "_rebuild", "rebuild_flag"))


def _promise(finder: object, name: str) -> Any:  # noqa: ANN401 - a spec or nothing
    top = name.partition(".")[0]
    known = {**getattr(finder, "known_source_files", {}), **getattr(finder, "known_wheel_files", {})}
    names = {one.partition(".")[0] for one in known} | set(getattr(finder, "_top_level_modules", ()))
    return ModuleSpec(name, None, origin="editable", is_package=False) if top in names else None


def _described(name: str, spec: Any) -> Module:  # noqa: ANN401 - a module spec
    folders = spec.submodule_search_locations
    folders = None if folders is None else [str(one) for one in folders]
    if spec.loader is None and spec.origin == "editable":
        return Module(name, "unknown", why="an editable install that compiles itself")
    if spec.loader is None or (spec.origin is None and folders):
        return Module(name, "namespace", folders=folders or [])
    if isinstance(spec.loader, SourceFileLoader) and spec.origin:
        return Module(name, "source", spec.origin, folders)
    return Module(name, "opaque", spec.origin, folders)


def _distutils(modules: Modules, name: str) -> Module | None:
    """From 3.12 on, setuptools brings `distutils` along."""
    if name.partition(".")[0] != "distutils" or "_distutils_hack" not in sys.modules:
        return None
    brought = modules.find("setuptools." + name.replace("distutils", "_distutils", 1))
    return None if brought.kind == "missing" else Module(name, brought.kind, brought.file, brought.folders)
