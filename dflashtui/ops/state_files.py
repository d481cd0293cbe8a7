"""Small files in the state folder: each whole at every moment, readable by their owner alone."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from typing import TYPE_CHECKING
from urllib.parse import quote

if TYPE_CHECKING:
    from pathlib import Path

FOLDER_MODE = 0o700
NAME_LIMIT = 200
"""Characters of a name; file systems take 255 bytes."""


def unit_path(folder: Path, host: str, unit: str) -> Path:
    """The file of a unit of a host. Names may hold any character; quoted, none of them leaves the folder."""
    return folder / _file_name(host) / f"{_file_name(unit)}.json"


def _file_name(name: str) -> str:
    quoted = quote(name, safe="@:")[:NAME_LIMIT]
    return f"%2E{quoted[1:]}" if quoted.startswith(".") else quoted


def replace(path: Path, data: bytes) -> None:
    """Write a file, mode 0600, in place of the one that is there. Raises `OSError`, the old one untouched."""
    _make_folder(path.parent)
    handle, part = tempfile.mkstemp(prefix=".part-", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.replace(part, path)  # noqa: PTH105 - `part` is a name
    except BaseException:
        with suppress(OSError):
            os.unlink(part)  # noqa: PTH108
        raise


def _make_folder(folder: Path) -> None:
    """Pathlib gives the mode to the last folder alone, not to those above it."""
    if not folder.is_dir():
        _make_folder(folder.parent)
        folder.mkdir(mode=FOLDER_MODE, exist_ok=True)
