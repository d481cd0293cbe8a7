"""What is kept of good starts, to compare later ones with: one small file for each unit of each host."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import ValidationError

from dflashtui.model.probe import GoodStart
from dflashtui.ops.state_files import replace, unit_path

if TYPE_CHECKING:
    from pathlib import Path

FILE_LIMIT_BYTES = 256 * 1024


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
            replace(unit_path(self._folder, host, unit), start.model_dump_json().encode())
        except OSError as trouble:
            self.problem = f"{self._folder}: start times cannot be kept: {trouble.strerror or trouble}"

    def _read(self, host: str, unit: str) -> GoodStart | None:
        if self._folder is None:
            return None
        path = unit_path(self._folder, host, unit)
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
