"""The text of `--check`: one finding a line, worst first, then one line that counts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflashtui.model.finding import Finding, Level
from dflashtui.model.host import HostSnapshot, LinkState
from dflashtui.model.rules import SEVERITY
from dflashtui.model.unit import ActiveState, Readiness
from dflashtui.text import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

WORDS = {Level.FAILED: "bad", Level.UNKNOWN: "look", Level.WARNING: "warn"}
COLOURS = {"bad": "31", "look": "35", "warn": "33", "ok": "32"}
LONGEST_NAME = 40


def lines(
    snapshots: Sequence[HostSnapshot], findings: Sequence[Finding], *, colour: bool, demo: bool = False
) -> Iterator[str]:
    """The whole report; every word of a host passes `printable`."""
    hosts = min(LONGEST_NAME, max((len(finding.host) for finding in findings), default=0))
    units = min(LONGEST_NAME, max((len(finding.unit or "") for finding in findings), default=0))
    for finding in sorted(findings, key=lambda finding: SEVERITY[finding.level]):
        host, unit = printable(finding.host).ljust(hosts), printable(finding.unit or "").ljust(units)
        yield f"{_word(WORDS[finding.level], colour)}  {host}  {unit}  {printable(finding.message)}"
    yield _counts(snapshots, findings, colour, demo)


def _word(word: str, colour: bool) -> str:  # noqa: FBT001 - passed through
    padded = word.ljust(4)
    return f"\x1b[{COLOURS[word]}m{padded}\x1b[0m" if colour else padded


def _counts(snapshots: Sequence[HostSnapshot], findings: Sequence[Finding], colour: bool, demo: bool) -> str:  # noqa: FBT001
    up = sum(snapshot.link.state is LinkState.UP for snapshot in snapshots)
    units = [unit for snapshot in snapshots for unit in snapshot.units or ()]
    gpus = [gpu for snapshot in snapshots for gpu in snapshot.gpus or ()]
    parts = [f"{up} of {len(snapshots)} hosts up", f"{len(units)} units"]
    for word, count in (
        ("ready", sum(unit.readiness is Readiness.READY for unit in units)),
        ("failed", sum(unit.active_state is ActiveState.FAILED or unit.is_looping for unit in units)),
    ):
        if count:
            parts.append(f"{count} {word}")
    parts.append(f"{len(gpus)} GPUs")
    words = _word("ok", colour) if not findings else _word(WORDS[_worst(findings)], colour)
    return f"{'DEMO ' if demo else ''}{words}  {' · '.join(parts)}"


def _worst(findings: Sequence[Finding]) -> Level:
    return min((finding.level for finding in findings), key=lambda level: SEVERITY[level])
