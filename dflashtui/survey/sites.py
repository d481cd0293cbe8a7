"""The folders of a module path that hold installed packages."""

from __future__ import annotations

import os
import sysconfig
from typing import Iterable, List

OF_PACKAGES = (".dist-info", ".egg-info", ".egg-link", ".pth")


def sites(path: Iterable[str]) -> List[str]:
    """Those of the path with metadata of distributions in them, in order, each once; never the standard library's."""
    library = {os.path.realpath(sysconfig.get_paths()[name]) for name in ("stdlib", "platstdlib")}
    found: List[str] = []
    for folder in path:
        real = os.path.realpath(folder)
        if real not in library and real not in map(os.path.realpath, found) and _has_packages(folder):
            found.append(folder)
    return found


def _has_packages(folder: str) -> bool:
    try:
        return any(name.endswith(OF_PACKAGES) for name in os.listdir(folder))
    except OSError:
        return False
