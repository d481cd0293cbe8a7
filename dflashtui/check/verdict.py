"""One word for all findings. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from dflashtui.model.finding import Level

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dflashtui.model.finding import Finding

Verdict = Literal["ok", "warning", "failed", "unknown"]


def verdict(findings: Iterable[Finding]) -> Verdict:
    """The worst: failed, then unknown, then warning."""
    levels = {finding.level for finding in findings}
    for level, word in ((Level.FAILED, "failed"), (Level.UNKNOWN, "unknown"), (Level.WARNING, "warning")):
        if level in levels:
            return word  # type: ignore[return-value] # mypy widens the words of the tuple to str
    return "ok"
