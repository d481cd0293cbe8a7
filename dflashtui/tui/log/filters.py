"""What is shown of a log: level, patterns, processes, kernel. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from dflashtui.text import printable
from dflashtui.tui.log.levels import WORDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from dflashtui.model.journal import Priority
    from dflashtui.tui.log.pattern import Pattern
    from dflashtui.tui.log.record import Record

NO_NAME = "–"
"""Lines of processes that give no name."""


@dataclass(frozen=True)
class Filters:
    """All that hides lines; this program's own lines are never hidden."""

    limit: Priority | None = None
    """The lowest level shown; `None`: everything."""
    patterns: tuple[Pattern, ...] = ()
    """A line must match all of them."""
    process: str | None = None
    """Only this process's own lines; `NO_NAME`: those without a name."""

    def passing(self, records: Sequence[Record]) -> list[bool]:
        """For each record whether it is shown. Raises `TooSlow`."""
        shown = [self._passes(record) for record in records]
        for pattern in self.patterns:
            matching = pattern.matching(records)
            shown = [before and now for before, now in zip(shown, matching, strict=True)]
        return [one or record.is_ours for one, record in zip(shown, records, strict=True)]

    def _passes(self, record: Record) -> bool:
        if self.limit is not None and record.level > self.limit:
            return False
        if record.head is not None and record.head.is_folded:
            return False
        return self.process is None or (record.process or NO_NAME) == self.process

    def with_level(self, limit: Priority | None) -> Filters:
        """Another level."""
        return replace(self, limit=limit)

    def with_patterns(self, patterns: Sequence[Pattern]) -> Filters:
        """Other patterns."""
        return replace(self, patterns=tuple(patterns))

    def with_process(self, process: str | None) -> Filters:
        """One process, or all."""
        return replace(self, process=process)

    def words(self) -> Iterator[str]:
        """For the title."""
        if self.limit is not None:
            yield WORDS[self.limit]
        if self.process is not None:
            yield "no process name" if self.process == NO_NAME else f"only {printable(self.process, limit=24)}"
        for pattern in self.patterns:
            yield f"&{printable(pattern.text, limit=40)}"
