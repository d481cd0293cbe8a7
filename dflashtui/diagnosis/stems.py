"""Which lines can matter at all: asked of every line, so it has to be cheap."""

from __future__ import annotations

STEMS = (
    "traceback", "error", "xception", "fail", "fatal", "kill", "abort", "panic", "terminat", "no module", "not found", "cannot ",
    "can't ", "could", "unable", "no such", "of memory", "xid ", 'file "', "timed out", "denied", "assert", "dumped", "refused",
    "in use", "invalid", "illegal", "nccl warn", "systemd", "exit", "signal", "startup complete", "listening", "unavailable",
    "smashing", "corrupt", "double free", "segfault", "n fault", "supported", "shutting", "nvrm", "must be",
)  # fmt: skip
"""In lower case. A line without any of them can neither begin nor be a finding."""
BYTE_STEMS = tuple(stem.encode() for stem in STEMS)
REMEMBERED = 8192
LONG_BYTES = 2048


def is_dull(text: str) -> bool:
    """No stem is in it."""
    return not any(map(text.lower().__contains__, STEMS))


class Sieve:
    """Tells dull lines fast: of those that differ only in their digits, one was looked at."""

    def __init__(self) -> None:
        self._dull: set[bytes] = set()

    def is_dull(self, raw: bytes) -> bool:
        """No stem is in it, and nothing that hides one (an array of bytes is for the caller to see)."""
        key = raw.translate(None, b"0123456789")
        if key in self._dull:
            return True
        if any(map(key.lower().__contains__, BYTE_STEMS)):
            return False
        if len(self._dull) >= REMEMBERED:
            self._dull.clear()
        if len(key) < LONG_BYTES:
            self._dull.add(key)
        return True
