"""The first lines of a log: where they come again, the service was started anew."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflashtui.diagnosis.stems import is_dull

if TYPE_CHECKING:
    from collections.abc import Callable

LINES = 2
CHARACTERS = 8
NO_DIGITS = str.maketrans("", "", "0123456789")


class Banner:
    """Compares without digits. First lines that say of a failure, or that several processes print, are none."""

    def __init__(self) -> None:
        self._keys: list[str] = []
        self._next = 0
        self._is_none = False

    @property
    def is_known(self) -> bool:
        """The first lines were seen."""
        return self._is_none or len(self._keys) == LINES

    def recurs(self, text: str, has_failed: Callable[[], bool]) -> bool:
        """Whether the line completes the banner's second coming. Every line has to be asked until `is_known`."""
        key = text.translate(NO_DIGITS).strip()
        if self._is_none or not key:
            return False
        if len(self._keys) < LINES:
            self._learn(key)
            return False
        self._next = self._next + 1 if key == self._keys[self._next] else int(key == self._keys[0])
        if self._next < LINES:
            return False
        self._next = 0
        self._is_none = not has_failed()
        return not self._is_none

    def _learn(self, key: str) -> None:
        self._keys.append(key)
        self._is_none = (
            len(key) < CHARACTERS // len(self._keys)
            or not is_dull(key)
            or key.startswith("usage")
            or self._keys.count(key) > 1
        )
