"""Every distribution of an environment: what its metadata says, and what its code says of itself."""

from __future__ import annotations

import ast
import os
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Optional

from dflashtui.survey.metadata import egg_requirements, first_line, folders, head, headers, source, wheel
from dflashtui.survey.sites import sites

if TYPE_CHECKING:
    from dflashtui.survey.place import Place

TOLD_BY_CODE = ("torch", "torchvision", "torchaudio", "vllm", "sglang", "flashinfer", "triton")
"""Packages whose own word counts more than their metadata: copied, patched, or built for another CUDA."""
VERSION_FILES = ("version.py", "_version.py", "_build_meta.py", "__init__.py")
VERSION_NAMES = frozenset({"__version__", "version", "cuda", "hip", "git_version", "__git_version__"})
CODE_BYTES = 1 << 18


def found(order: Dict[str, Any], place: Place) -> Iterator[Dict[str, Any]]:
    """A fact for each distribution, in the order of the module path, then one for each package in `TOLD_BY_CODE`.

    `order`: `requires` (default true): also what each asks for.
    """
    for site in sites(place.path):
        place.check()
        try:
            listed = list(folders(site))
        except OSError as problem:
            yield {"site": site, "problem": problem.strerror or str(problem)}
            continue
        for name, folder in listed:
            place.check()
            yield {"site": site, **_told(name, folder, with_requires=order.get("requires", True))}
    for package in TOLD_BY_CODE:
        fact = _told_by_code(package, place.path)
        if fact:
            yield fact


def _told(name: str, folder: str, with_requires: bool) -> Dict[str, Any]:  # noqa: FBT001 - of an order in JSON
    """What one place of metadata says; a damaged one gives its folder's name and a `problem`."""
    is_egg, is_file = name.endswith(".egg-info"), os.path.isfile(folder)
    stem, _, version = name.rpartition(".")[0].partition("-")
    fact: Dict[str, Any] = {"name": stem, "version": version.split("-")[0] or None, "metadata": folder}
    try:
        fields = headers(head(folder if is_file else os.path.join(folder, "PKG-INFO" if is_egg else "METADATA")))
    except OSError as problem:
        return {**fact, "problem": problem.strerror or str(problem)}
    fact["name"], fact["version"] = _first(fields, "name") or stem, _first(fields, "version") or fact["version"]
    if not _first(fields, "name") or not _first(fields, "version"):
        fact["problem"] = "its metadata lacks a name or a version"
    fact.update(source=source(folder), installer=first_line(folder, "INSTALLER"), **wheel(folder))
    fact["has_record"] = os.path.exists(os.path.join(folder, "RECORD"))
    if with_requires:
        fact["requires"] = fields.get("requires-dist", []) or (egg_requirements(folder) if is_egg else [])
        fact["requires_python"] = _first(fields, "requires-python")
    return fact


def _first(fields: Dict[str, List[str]], name: str) -> Optional[str]:
    found_there = fields.get(name)
    return found_there[0] if found_there and found_there[0] else None


def _told_by_code(package: str, path: List[str]) -> Optional[Dict[str, Any]]:
    """The first copy on the module path, and the constants with which it names its version and CUDA."""
    for folder in path:
        directory = os.path.join(folder, package)
        if not os.path.isdir(directory):
            continue
        told: Dict[str, str] = {}
        for name in VERSION_FILES:
            for constant, value in _constants(os.path.join(directory, name)).items():
                told.setdefault(constant, value)
            if "__version__" in told:
                break
        if told:
            return {"code": package, "directory": directory, **told}
    return None


def _constants(path: str) -> Dict[str, str]:
    """Texts that are given to version names at the top of a module."""
    try:
        with open(path, "rb") as file:
            tree = ast.parse(file.read(CODE_BYTES))
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    return {
        name.id: value.value
        for statement in tree.body
        for name, value in _assignments(statement)
        if name.id in VERSION_NAMES and isinstance(value, ast.Constant) and isinstance(value.value, str)
    }


def _assignments(statement: ast.stmt) -> Iterator[Any]:
    """Name and value; `a = b = "x"` gives two."""
    if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
        yield statement.target, statement.value
    elif isinstance(statement, ast.Assign):
        for target in statement.targets:
            if isinstance(target, ast.Name):
                yield target, statement.value
