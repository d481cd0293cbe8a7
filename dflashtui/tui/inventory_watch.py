"""Whether hosts.toml was changed while the console runs, which goes on with what it has read."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

PAUSE_SECONDS = 5.0
AS_READ = "what runs here is as it was read: leave (q) and start again to use the new one"

Mark = tuple[int, int, int] | None


class InventoryWatch:
    """One file, by its time, size and number; an editor may replace it as a whole."""

    def __init__(self, path: Path, pause_seconds: float = PAUSE_SECONDS) -> None:
        """`pause_seconds`: between two looks."""
        self.pause_seconds = pause_seconds
        self._path = path
        self._seen = _mark(path)

    def look(self) -> str | None:
        """What has become of it since it was looked at last, in words; `None`: nothing. Reads the disk."""
        now, before = _mark(self._path), self._seen
        self._seen = now
        if now == before:
            return None
        return f"{self._path.name} {'was changed' if now else 'is gone'}; {AS_READ}"


def _mark(path: Path) -> Mark:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
