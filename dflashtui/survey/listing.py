"""The names in folders of modules, each folder read once: most of a path's folders have not what is looked for."""

from __future__ import annotations

import os
from functools import lru_cache


class Listings:
    """Folders as they were when they were first asked for."""

    def __init__(self) -> None:
        self._stems: dict[str, frozenset[str] | None] = {}
        self._closed: dict[str, bool] = {}

    def may_have(self, folder: str, name: str) -> bool:
        """Whether a module of that last name may be there; only a folder that can be listed says no."""
        if folder not in self._stems:
            self._stems[folder] = _stems(folder)
        found = self._stems[folder]
        return found is None or name in found

    def is_closed(self, folder: str) -> bool:
        """Whether it is a folder that may not be searched."""
        if folder not in self._closed:
            self._closed[folder] = os.path.isdir(folder) and not os.access(folder, os.R_OK | os.X_OK)
        return self._closed[folder]


def _stems(folder: str) -> frozenset[str] | None:
    """What stands before the first dot of its entries."""
    try:
        return frozenset(name.partition(".")[0] for name in os.listdir(folder))
    except OSError:
        return None


def real(path: str) -> str:
    """As `os.path.realpath`, with one look at each folder."""
    if os.path.islink(path):
        return os.path.realpath(path)
    folder, name = os.path.split(path)
    return os.path.join(_real_folder(folder), name)


@lru_cache(maxsize=None)
def _real_folder(folder: str) -> str:
    return os.path.realpath(folder)
