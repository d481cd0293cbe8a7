"""What a person typed to search or to filter. Pure."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING

from dflashtui.tui.log.guard import TooSlow, bounded

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from dflashtui.tui.log.record import Record

SEARCH_SECONDS = 0.25
"""Of processor time, for all that is kept."""
LINE_SECONDS = 0.01
LINES_IN_A_PIECE = 5000


@dataclass(frozen=True)
class Pattern:
    """A regular expression, or plain text where it is none; small letters match both cases (as in less and lnav).

    `!` before it turns it round: what does not match. Raises `TooSlow` where an expression takes too long.
    """

    text: str

    @property
    def is_inverted(self) -> bool:
        """Whether lines without it are meant."""
        return self.text.startswith("!") and len(self.text) > 1

    @cached_property
    def _plain(self) -> str | None:
        """The words, where they are neither an expression nor in capitals: ten times faster to look for."""
        words = self.words
        return words if words == words.lower() and words == re.escape(words).replace("\\ ", " ") else None

    @property
    def words(self) -> str:
        """Without the `!`."""
        return self.text[1:] if self.is_inverted else self.text

    @property
    def ignores_case(self) -> bool:
        """Small letters match both."""
        return self.words == self.words.lower()

    @cached_property
    def _regex(self) -> re.Pattern[str]:
        return self._compiled(re.IGNORECASE if self.ignores_case else re.NOFLAG)

    @cached_property
    def _regex_for_small(self) -> re.Pattern[str]:
        """For text in small letters where case does not matter: `re` is five times faster than with its own flag."""
        return self._compiled(re.NOFLAG)

    def _compiled(self, flag: re.RegexFlag) -> re.Pattern[str]:
        flags = re.MULTILINE | flag
        try:
            return re.compile(self.words, flags)
        except (re.error, OverflowError, RecursionError):
            return re.compile(re.escape(self.words), flags)

    def matches(self, record: Record) -> bool:
        """Whether one of the record's lines contains it."""
        with bounded(LINE_SECONDS):
            return any(map(self._stands_in, record.texts)) != self.is_inverted

    def _stands_in(self, text: str) -> bool:
        lowered = text.lower() if self.ignores_case else text
        if self._plain is not None:
            return self._plain in lowered
        return self._regex_for_small.search(lowered) is not None

    def matching(self, records: Sequence[Record]) -> Iterator[bool]:
        """For each record whether it matches: all of them looked through as one text, 1 µs each."""
        with bounded(SEARCH_SECONDS):
            found: list[bool] = []
            for start in range(0, len(records), LINES_IN_A_PIECE):
                found += self._matching(records[start : start + LINES_IN_A_PIECE])
        return iter(found)

    def _matching(self, records: Sequence[Record]) -> list[bool]:
        texts = ["\n".join(record.texts) if len(record.texts) > 1 else record.texts[0] for record in records]
        whole = "\n".join(texts)
        lowered = whole.lower() if self.ignores_case else whole
        if len(lowered) != len(whole):
            # a capital such as İ has two characters when it is small: then places in one text are none of the other
            return [any(map(self._stands_in, record.texts)) != self.is_inverted for record in records]
        ends = list(accumulate(len(text) + 1 for text in texts))
        places = self._plain_places(lowered) if self._plain is not None else self._regex_places(lowered, ends)
        hits = [False] * len(records)
        for place in places:
            hits[bisect_right(ends, place)] = True
        return [hit != self.is_inverted for hit in hits] if self.is_inverted else hits

    def _plain_places(self, text: str) -> Iterator[int]:
        words = self._plain or ""
        place = text.find(words)
        while place >= 0:
            yield place
            line_end = text.find("\n", place)
            place = text.find(words, line_end) if line_end >= 0 else -1

    def _regex_places(self, text: str, ends: Sequence[int]) -> Iterator[int]:
        """Where it stands, a record at most once; what reaches beyond its record is looked at again."""
        place, regex = 0, self._regex_for_small
        while found := regex.search(text, place):
            here = bisect_right(ends, found.start())
            if here >= len(ends):
                return
            start, end = ends[here - 1] if here else 0, ends[here] - 1
            if "\n" not in found.group() or any(map(regex.search, text[start:end].split("\n"))):
                yield found.start()
            place = end + 1
            if place > len(text):
                return

    def places(self, text: str) -> list[tuple[int, int]]:
        """Where it stands in a line."""
        if self.is_inverted:
            return []
        try:
            with bounded(LINE_SECONDS):
                return [found.span() for found in self._regex.finditer(text) if found.end() > found.start()]
        except TooSlow:
            return []
