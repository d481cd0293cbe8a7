"""Whether any unit file may have changed since the manager read them: asking it about every unit takes it long."""

from __future__ import annotations

import os
from typing import Iterator, Sequence

OWN_FOLDERS = ("transient", "generator", "generator.early", "generator.late")
"""Written by the manager itself, or by its generators as it reloads."""
DEEPEST = 2
"""FOLDER/UNIT.d/DROP-IN.conf."""


def may_be_pending(folders: Sequence[str], reloaded_at: float | None) -> bool:
    """False where nothing in the unit folders is younger than the last reload; True where that cannot be told."""
    if reloaded_at is None:
        return True
    looked_at = (folder for folder in folders if os.path.basename(folder) not in OWN_FOLDERS)
    return any(moment > reloaded_at for folder in looked_at for moment in _moments(folder, DEEPEST))


def _moments(folder: str, depth: int) -> Iterator[float]:
    """When the folder and what is in it last changed: contents, names, owners, and the targets of links."""
    try:
        yield _changed(os.stat(folder))
        with os.scandir(folder) as entries:
            for entry in entries:
                yield _changed(entry.stat(follow_symlinks=False))
                if entry.is_symlink():
                    yield from _of_target(entry.path)
                elif depth > 1 and entry.is_dir(follow_symlinks=False):
                    yield from _moments(entry.path, depth - 1)
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError:
        yield float("inf")


def _of_target(path: str) -> Iterator[float]:
    try:
        yield _changed(os.stat(path))
    except OSError:
        return


def _changed(status: os.stat_result) -> float:
    return max(status.st_mtime, status.st_ctime)
