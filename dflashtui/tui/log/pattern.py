"""What a person typed to search or to filter. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dflashtui.tui.log.record import Record


@dataclass(frozen=True)
class Pattern:
    """A regular expression, or plain text where it is none; small letters match both cases (as in less and lnav).

    `!` before it turns it round: what does not match.
    """

    text: str

    @property
    def is_inverted(self) -> bool:
        """Whether lines without it are meant."""
        return self.text.startswith("!") and len(self.text) > 1

    @cached_property
    def _plain(self) -> str | None:
        """The words, where they are neither an expression nor in capitals: ten times faster to look for."""
        words = self._words
        return words if words == words.lower() and words == re.escape(words).replace("\\ ", " ") else None

    @property
    def _words(self) -> str:
        return self.text[1:] if self.is_inverted else self.text

    @cached_property
    def _regex(self) -> re.Pattern[str]:
        words = self._words
        flags = re.IGNORECASE if words == words.lower() else re.NOFLAG
        try:
            return re.compile(words, flags)
        except re.error:
            return re.compile(re.escape(words), flags)

    def matches(self, record: Record) -> bool:
        """Whether one of the record's lines contains it."""
        return any(map(self._stands_in, record.texts)) != self.is_inverted

    def _stands_in(self, text: str) -> bool:
        if self._plain is not None:
            return self._plain in text.lower()
        return self._regex.search(text) is not None

    def places(self, text: str) -> Iterator[tuple[int, int]]:
        """Where it stands in a line."""
        if not self.is_inverted:
            for found in self._regex.finditer(text):
                if found.end() > found.start():
                    yield found.span()
