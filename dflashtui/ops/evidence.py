"""What is kept of good starts, to compare later ones with: one small file for each unit of each host."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from typing import TYPE_CHECKING
from urllib.parse import quote

from pydantic import ValidationError

from dflashtui.model.probe import GoodStart

if TYPE_CHECKING:
    from pathlib import Path

FOLDER_MODE = 0o700
FILE_LIMIT_BYTES = 256 * 1024
NAME_LIMIT = 200
"""Characters of a name; file systems take 255 bytes."""


class Evidence:
    """The last good start by host and unit: in `starts/` of a folder, and in memory where that cannot be used."""

    def __init__(self, folder: Path | None) -> None:
        """`folder`: the state folder; `None`: in memory alone (the demo)."""
        self.problem: str | None = None
        """Why the folder cannot be used, in words; what is kept then goes with this program."""
        self._folder = folder and folder / "starts"
        self._memory: dict[tuple[str, str], GoodStart] = {}

    def good_start(self, host: str, unit: str) -> GoodStart | None:
        """The last one; `None`: none is known. A file that cannot be read counts as none."""
        return self._memory.get((host, unit)) or self._read(host, unit)

    def keep(self, host: str, unit: str, start: GoodStart) -> None:
        """Remember it in place of the earlier one. The file is whole at every moment."""
        self._memory[host, unit] = start
        if self._folder is None:
            return
        try:
            _replace(self._path(self._folder, host, unit), start.model_dump_json().encode())
        except OSError as trouble:
            self.problem = f"{self._folder}: start times cannot be kept: {trouble.strerror or trouble}"

    def _read(self, host: str, unit: str) -> GoodStart | None:
        if self._folder is None:
            return None
        path = self._path(self._folder, host, unit)
        try:
            with path.open("rb") as file:
                return GoodStart.model_validate_json(file.read(FILE_LIMIT_BYTES))
        except FileNotFoundError:
            return None
        except ValidationError:
            return None
        except OSError as trouble:
            self.problem = f"{path}: start times cannot be read: {trouble.strerror or trouble}"
            return None

    def _path(self, folder: Path, host: str, unit: str) -> Path:
        """Names may hold any character; quoted, none of them leaves the folder."""
        return folder / _file_name(host) / f"{_file_name(unit)}.json"


def _file_name(name: str) -> str:
    quoted = quote(name, safe="@:")[:NAME_LIMIT]
    return f"%2E{quoted[1:]}" if quoted.startswith(".") else quoted


def _replace(path: Path, data: bytes) -> None:
    path.parent.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
    handle, part = tempfile.mkstemp(prefix=".part-", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.replace(part, path)  # noqa: PTH105 - `part` is a name
    except BaseException:
        with suppress(OSError):
            os.unlink(part)  # noqa: PTH108
        raise
