"""Filters of logs, kept by name in the state folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import TypeAdapter, ValidationError

from dflashtui.ops.state_files import replace

if TYPE_CHECKING:
    from pathlib import Path

Named = dict[str, tuple[str, ...]]
FILTERS = TypeAdapter(Named)
FILE_LIMIT_BYTES = 2**20


class SavedFilters:
    """A small JSON file; in memory alone where there is none to be."""

    def __init__(self, path: Path | None) -> None:
        """`path`: the file; `None`: in memory alone (the demo)."""
        self._path = path
        self._known: Named = {}

    def all(self) -> Named:
        """By name. A file that cannot be read counts as none."""
        if self._path is not None:
            self._known = self._read(self._path)
        return dict(self._known)

    def keep(self, name: str, patterns: tuple[str, ...] | None) -> None:
        """Remember filters under a name, or forget the name (`None`). Raises `OSError`."""
        known = self.all()
        known.pop(name, None)
        if patterns is not None:
            known[name] = patterns
        self._known = known
        if self._path is not None:
            replace(self._path, FILTERS.dump_json(known, indent=1))

    def _read(self, path: Path) -> Named:
        try:
            with path.open("rb") as file:
                return FILTERS.validate_json(file.read(FILE_LIMIT_BYTES))
        except (OSError, ValidationError):
            return {}
