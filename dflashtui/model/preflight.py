"""What a preflight finds: a fault that would end a start, found without starting anything."""

from __future__ import annotations

from typing import Literal

from dflashtui.model.base import Value


class PreflightFinding(Value):
    """One fault, or one thing that could not be looked at."""

    id: str
    """Stable: the check and the thing, so that scripts can tell a new finding from an old one."""
    level: Literal["fatal", "warning", "note", "unknown"]
    """`fatal`: this start fails; `unknown`: could not be judged, which is neither well nor broken."""
    check: str
    """Which check found it: `imports`, `port`, `model`, …"""
    host: str
    unit: str
    message: str
    """What is wrong, in a sentence. May hold text of the host: not yet `printable()`."""
    evidence: tuple[str, ...] = ()
    """What was seen, one fact a line."""
    remedy: str | None = None
    """What to do, in words."""
    command: tuple[str, ...] | None = None
    """What does it on the host, where one command can."""


Verdict = Literal["ok", "warning", "unknown", "fatal"]
WORST_FIRST = ("fatal", "unknown", "warning", "note")


class Preflight(Value):
    """What all checks of one unit on one host found."""

    host: str
    unit: str
    findings: tuple[PreflightFinding, ...] = ()
    """Worst first."""
    elapsed_seconds: float = 0.0

    @property
    def verdict(self) -> Verdict:
        """By the worst finding; notes are no fault."""
        levels = {finding.level for finding in self.findings}
        if "fatal" in levels:
            return "fatal"
        if "unknown" in levels:
            return "unknown"
        return "warning" if "warning" in levels else "ok"

    @property
    def commands(self) -> tuple[tuple[str, ...], ...]:
        """What would cure it on the host, each once."""
        return tuple(dict.fromkeys(finding.command for finding in self.findings if finding.command))


def worst_first(findings: tuple[PreflightFinding, ...]) -> tuple[PreflightFinding, ...]:
    """In the order in which a person should read them; each id once."""
    once: dict[str, PreflightFinding] = {}
    for finding in findings:
        once.setdefault(finding.id, finding)
    return tuple(sorted(once.values(), key=lambda finding: WORST_FIRST.index(finding.level)))
