"""The files of chosen packages, by what is in them."""

from __future__ import annotations

import base64
import csv
import hashlib
import os
import re
from typing import TYPE_CHECKING, Any, Dict, Iterable, Iterator, Optional, Set, Tuple

from dflashtui.survey.metadata import folders
from dflashtui.survey.sites import sites

if TYPE_CHECKING:
    from dflashtui.survey.place import Place

CHUNK = 1 << 20
COMPILED = (".pyc", ".pyo")
MOST_FILES = 200_000


def found(order: Dict[str, Any], place: Place) -> Iterator[Dict[str, Any]]:
    """A fact for each file of the distributions in `order["packages"]`, by normal name (PEP 503).

    First those of the RECORD, then whatever else lies in the same packages. `is_listed`: the RECORD names
    it; `recorded`: with this hash.
    """
    wanted = set(order["packages"])
    for site in sites(place.path):
        for name, folder in folders(site):
            stem = name.rpartition(".")[0].partition("-")[0]
            if normal(stem) in wanted:
                wanted.discard(normal(stem))  # the first on the module path is the one that is imported
                yield from _files(normal(stem), site, folder, place)
    for package in sorted(wanted):
        yield {"package": package, "problem": "not installed"}


def normal(name: str) -> str:
    """The name of a distribution as indexes compare it (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _files(package: str, site: str, folder: str, place: Place) -> Iterator[Dict[str, Any]]:
    recorded: Dict[str, Optional[str]] = {}
    problem = None
    try:
        recorded.update(_record(folder))
    except (OSError, csv.Error, UnicodeDecodeError) as trouble:
        problem = "its RECORD cannot be read: %s" % trouble
    yield {"package": package, "site": site, "metadata": folder, "problem": problem}
    for path in sorted({*recorded, *_beside(site, _tops(recorded), place)}):
        if not path.endswith(COMPILED):
            place.check()
            listed = {"is_listed": path in recorded, "recorded": recorded.get(path)}
            yield {"package": package, "file": path, **listed, **_told(os.path.join(site, path))}


def _record(folder: str) -> Iterator[Tuple[str, Optional[str]]]:
    """Path and hash of each line of a RECORD (PEP 376, PEP 627)."""
    with open(os.path.join(folder, "RECORD"), encoding="utf-8", newline="") as file:
        for row in csv.reader(file):
            if row:
                algorithm, _, value = (row[1] if len(row) > 1 else "").partition("=")
                yield row[0], _hexadecimal(value) if algorithm == "sha256" else None


def _hexadecimal(text: str) -> Optional[str]:
    try:
        return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)).hex() or None
    except ValueError:
        return None


def _tops(recorded: Iterable[str]) -> Set[str]:
    """The packages that are a distribution's own: others may lay files into a namespace package, too."""
    own = "/__init__.py"
    return {path[: -len(own)] for path in recorded if path.endswith(own) and path.count("/") == 1}


def _beside(site: str, tops: Set[str], place: Place) -> Iterator[str]:
    count = 0
    for top in sorted(tops):
        for folder, _, names in os.walk(os.path.join(site, top)):
            place.check()
            for name in names:
                count += 1
                if count > MOST_FILES:
                    return
                yield os.path.relpath(os.path.join(folder, name), site)


def _told(path: str) -> Dict[str, Any]:
    """Hash and size; `problem`: it cannot be read, or is not there."""
    try:
        if not os.path.isfile(path):
            return {"problem": "not there" if not os.path.lexists(path) else "no file"}
        digest = hashlib.sha256()
        with open(path, "rb") as file:
            for chunk in iter(lambda: file.read(CHUNK), b""):
                digest.update(chunk)
            status = os.fstat(file.fileno())
    except OSError as problem:
        return {"problem": problem.strerror or str(problem)}
    return {"sha256": digest.hexdigest(), "size": status.st_size, "mode": status.st_mode & 0o7777}
