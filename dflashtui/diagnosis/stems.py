"""Which lines can matter at all: asked of every line, so it has to be cheap."""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

STEMS = (
    "traceback", "error", "xception", "fail", "fatal", "kill", "abort", "panic", "terminat", "no module",
    "not found", "cannot ", "can't ", "could", "unable", "no such", "of memory", "xid ", 'file "', "timed out",
    "denied", "assert", "dumped", "refused", "in use", "invalid", "illegal", "nccl warn", "systemd", "exit",
    "signal", "startup complete", "listening", "unavailable", "smashing", "corrupt", "double free", "segfault",
    "n fault", "s fault", "watchdog timeout", "ready to roll", "uvicorn running", "slots are idle",
    "server started", "supported", "shutting", "nvrm", "must be",
)  # fmt: skip
"""In lower case. A line without any of them can neither begin nor be a finding."""
BYTE_STEMS = tuple(stem.encode() for stem in STEMS)
DIGITS = b"0123456789"
REMEMBERED = 8192
LONG_BYTES = 2048


def is_dull(text: str) -> bool:
    """No stem is in it."""
    return not any(map(text.lower().__contains__, STEMS))


class Sieve:
    """Tells dull lines fast: of those that differ only in their digits one was looked at, the rest together."""

    def __init__(self) -> None:
        self._dull: set[bytes] = set()

    def hot(self, lines: Sequence[bytes]) -> list[int]:
        """The indexes of the lines that have a stem, in order."""
        keys = [line.translate(None, DIGITS) for line in lines]
        unknown = [index for index, key in enumerate(keys) if key not in self._dull]
        if not unknown:
            return []
        hits = _hits([keys[index].lower() for index in unknown])
        found = {unknown[hit] for hit in hits}
        self._remember(keys[index] for index in unknown if index not in found)
        return sorted(found)

    def _remember(self, keys: Iterable[bytes]) -> None:
        if len(self._dull) >= REMEMBERED:
            self._dull.clear()
        self._dull.update(key for key in keys if len(key) < LONG_BYTES)


def _hits(keys: list[bytes]) -> set[int]:
    """Which of these hold a stem; searched as one text, for a search costs more than the bytes of a line."""
    text = b"\n".join(keys)
    ends = list(accumulate(len(key) + 1 for key in keys))
    hits: set[int] = set()
    for stem in BYTE_STEMS:
        at = text.find(stem)
        while at >= 0:
            index = bisect_right(ends, at)
            hits.add(index)
            at = text.find(stem, ends[index])
    return hits
