"""Of a long ssh_config, the lines that may concern one host: asyncssh takes 7 ms for a hundred `Host` blocks."""

from __future__ import annotations

import os
import re
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

HEADER = re.compile(rb"[ \t]*(?:(host)|match)[ \t]*[ \t=](.*)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Block:
    """A `Host` line, or a `Match` line, with what belongs to it."""

    patterns: tuple[str, ...] | None
    """`None`: it has to be read to know whom it concerns."""
    lines: bytes
    blank: bytes
    """As many lines without a word, so that those after it keep their numbers."""

    def text(self, name: str) -> bytes:
        concerns = self.patterns is None or any(fnmatchcase(name, pattern) for pattern in self.patterns)
        return self.lines if concerns else self.blank


_blocks: dict[tuple[Path, int, int], tuple[_Block, ...]] = {}
_lock = threading.Lock()


@contextmanager
def excerpt(path: Path, name: str) -> Iterator[Path]:
    """A file in memory with what `path` may say about the host `name`. Raises `OSError`."""
    text = b"".join(block.text(name.lower()) for block in _read(path))
    descriptor = os.memfd_create("ssh_config")
    try:
        os.write(descriptor, text)
        yield Path(f"/proc/self/fd/{descriptor}")
    finally:
        os.close(descriptor)


def _read(path: Path) -> tuple[_Block, ...]:
    """The blocks of a file, split once for each version of it."""
    status = path.stat()
    version = (path, status.st_mtime_ns, status.st_size)
    with _lock:
        if version not in _blocks:
            for stale in [known for known in _blocks if known[0] == path]:
                del _blocks[stale]
            _blocks[version] = tuple(_split(path.read_bytes()))
        return _blocks[version]


def _split(text: bytes) -> Iterator[_Block]:
    patterns: tuple[str, ...] | None = None
    lines: list[bytes] = []
    for line in text.splitlines(keepends=True):
        if header := HEADER.match(line):
            yield _block(patterns, lines)
            patterns, lines = _patterns(header) if header[1] else None, []
        lines.append(line)
    yield _block(patterns, lines)


def _block(patterns: tuple[str, ...] | None, lines: list[bytes]) -> _Block:
    return _Block(patterns, b"".join(lines), b"\n" * len(lines))


def _patterns(header: re.Match[bytes]) -> tuple[str, ...] | None:
    """Whom a `Host` line may concern; refusals (`!`) are left to asyncssh, and so are quotes."""
    words = header[2].decode(errors="replace").lower()
    if any(char in words for char in "\"'\\"):
        return None
    return tuple(word.replace("[", "[[]") for word in re.split(r"[\s,=]+", words) if word)
