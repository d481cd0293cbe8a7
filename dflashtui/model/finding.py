"""Findings of the check, and causes of failures (the CAUSE of the contract)."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from dflashtui.model.base import Value


class Level(StrEnum):
    """Weight of a finding; `UNKNOWN`: could not be judged, which is neither well nor broken."""

    FAILED = "failed"
    UNKNOWN = "unknown"
    WARNING = "warning"


class Location(Value):
    """A place in source code."""

    file: str
    line: int | None = None
    function: str | None = None


Confidence = Literal["high", "medium", "low"]
"""`high`: an exception or a decisive line of the process itself; `low`: only wrappers, victims or an exit status."""


class Cause(Value):
    """Why a run of a unit failed (contract, part 4)."""

    kind: str
    exception: str | None = None
    message: str = ""
    module: str | None = None
    location: Location | None = None
    """The deepest frame that is not of a standard library or of frozen code."""
    process: str | None = None
    host: str | None = None
    unit: str | None = None
    invocation_id: str | None = None
    lines: tuple[int, int] | None = None
    """First and last line in the input, 1-based; `None` from a live journal."""
    own_location: Location | None = None
    """The deepest frame in the service's own code: neither the standard library nor an installed package."""
    confidence: Confidence = "high"
    folded: int = 0
    """Copies of it that were seen: other ranks, the same text printed again by a parent."""

    @property
    def in_words(self) -> str:
        """`ModuleNotFoundError: No module named 'soundfile'`. Text of the service: not yet `printable()`."""
        if self.exception and self.message:
            return f"{self.exception}: {self.message}"
        return self.exception or self.message or self.kind


class Finding(Value):
    """One line of the check."""

    id: str
    """Stable: the rule, the host and the thing, so that scripts can tell a new finding from an old one."""
    level: Level
    host: str
    unit: str | None = None
    message: str
