"""What is left out, and counted, when one unit writes faster than anybody can read. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pydantic_core import from_json

if TYPE_CHECKING:
    from dflashtui.source.journal_argv import ManagerKind

# safe in any JSON text: a quote inside a string is always written with a backslash before it
UNIT_OF_LINE = {
    "system": re.compile(rb'"_SYSTEMD_UNIT" ?: ?("[^"]*")'),
    "user": re.compile(rb'"_SYSTEMD_USER_UNIT" ?: ?("[^"]*")'),
}
REFILLED = 0.25
"""Share of a second's lines that must have been saved up before a shut unit is let through again."""


@dataclass(frozen=True, slots=True)
class Quota:
    """How much of one unit's output is taken: about 25 % of a core for decoding, keeping and drawing.

    Nobody reads more, what is left out is counted where it is missing, and it is fetched when somebody looks there.
    """

    lines_per_second: float = 4_000
    burst_lines: float = 20_000
    """A crash that prints much at once passes whole."""


@dataclass(slots=True)
class _Bucket:
    lines: float
    filled_at: float
    shut: bool = False


@dataclass(slots=True)
class Shedder:
    """A token bucket for each unit, so that a flooding one cannot starve a quiet one."""

    quota: Quota
    manager: ManagerKind = "system"
    _buckets: dict[bytes, _Bucket] = field(default_factory=dict)

    def takes(self, line: bytes, now: float) -> bool:
        """Whether the line is to be decoded, by a clock in seconds."""
        bucket = self._filled(self.unit_of(line), now)
        if bucket.shut and bucket.lines < self.quota.lines_per_second * REFILLED:
            return False
        bucket.shut = bucket.lines < 1
        if not bucket.shut:
            bucket.lines -= 1
        return not bucket.shut

    def unit_of(self, line: bytes) -> bytes:
        """The unit whose process wrote an entry, quoted as it stands there; empty for the kernel."""
        found = UNIT_OF_LINE[self.manager].search(line)
        return found[1] if found else b""

    def _filled(self, unit: bytes, now: float) -> _Bucket:
        bucket = self._buckets.setdefault(unit, _Bucket(self.quota.burst_lines, now))
        if now > bucket.filled_at:
            gained = (now - bucket.filled_at) * self.quota.lines_per_second
            bucket.lines = min(self.quota.burst_lines, bucket.lines + gained)
            bucket.filled_at = now
        return bucket


def unit_name(quoted: bytes) -> str | None:
    """The unit of `Shedder.unit_of` as a name."""
    name = from_json(quoted) if quoted else None
    return name if isinstance(name, str) else None
