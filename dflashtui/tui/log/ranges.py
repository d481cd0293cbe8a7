"""How much of the journal is shown: the keys `0` … `6`. Pure."""

from __future__ import annotations

from enum import StrEnum


class Range(StrEnum):
    """By the key that chooses it."""

    TAIL = "0"
    RUN = "1"
    MINUTE = "2"
    FIVE_MINUTES = "3"
    QUARTER = "4"
    HALF_HOUR = "5"
    HOUR = "6"

    @property
    def words(self) -> str:
        """For help and title."""
        return WORDS[self]

    @property
    def seconds(self) -> int | None:
        """Length of the time, where it is one."""
        return SECONDS.get(self)


WORDS = {
    Range.TAIL: "tail",
    Range.RUN: "all of this run",
    Range.MINUTE: "last minute",
    Range.FIVE_MINUTES: "last 5 minutes",
    Range.QUARTER: "last 15 minutes",
    Range.HALF_HOUR: "last 30 minutes",
    Range.HOUR: "last hour",
}
SECONDS = {
    Range.MINUTE: 60,
    Range.FIVE_MINUTES: 300,
    Range.QUARTER: 900,
    Range.HALF_HOUR: 1800,
    Range.HOUR: 3600,
}
