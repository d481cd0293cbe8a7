"""A preflight's result for scripts and for people. Pure."""

from __future__ import annotations

import shlex
from itertools import zip_longest
from typing import TYPE_CHECKING

from dflashtui.exit_code import ExitCode
from dflashtui.mask import masked
from dflashtui.text import printable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dflashtui.model.preflight import Preflight, PreflightFinding

EXIT_CODES = {
    "ok": ExitCode.OK,
    "warning": ExitCode.WARNING,
    "unknown": ExitCode.UNKNOWN,
    "fatal": ExitCode.FAILED,
}
COLOURS = {"fatal": "31", "unknown": "35", "warning": "33", "note": "2", "ok": "32"}
VERDICTS = {
    "ok": "no fault found",
    "warning": "would start",
    "unknown": "not everything could be looked at",
    "fatal": "would fail",
}
LONGEST_LINE = 400
LONGEST_COMMAND = 8000
"""A command is there to be copied, and may install a whole engine's needs; several findings share one."""


def exit_code(found: Preflight) -> ExitCode:
    """What the command says of it (contract, part 2)."""
    return EXIT_CODES[found.verdict]


def document(found: Preflight) -> dict[str, object]:
    """The JSON of `preflight --json`: one document a host."""
    return {
        "schema": 1,
        "host": found.host,
        "unit": found.unit,
        "verdict": found.verdict,
        "findings": [_document(finding) for finding in found.findings],
        "elapsed_ms": round(found.elapsed_seconds * 1000, 1),
    }


def _document(finding: PreflightFinding) -> dict[str, object]:
    """Without host and unit, which the document around it names; secrets masked."""
    told = finding.model_dump(mode="json", exclude={"host", "unit"})
    told["message"] = masked(finding.message)
    told["evidence"] = [masked(line) for line in finding.evidence]
    return told


def lines(found: Preflight, *, colour: bool) -> Iterator[str]:
    """A headline, then each finding, worst first, with what was seen and what to do."""
    counts = {level: sum(one.level == level for one in found.findings) for level in ("fatal", "unknown", "warning")}
    told = ", ".join(f"{count} {level}" for level, count in counts.items() if count)
    head = f"{found.host}: {found.unit}: {VERDICTS[found.verdict]}"
    yield _painted(
        f"{head}{f': {told}' if told else ''}  ({found.elapsed_seconds:.1f} s)", found.verdict, colour=colour
    )
    for finding, following in zip_longest(found.findings, found.findings[1:]):
        yield from _finding(finding, colour=colour)
        if finding.command and (following is None or following.command != finding.command):
            yield printable(masked(f"         $ {shlex.join(finding.command)}"), limit=LONGEST_COMMAND)


def _finding(finding: PreflightFinding, *, colour: bool) -> Iterator[str]:
    yield _painted(f"  {finding.level:<8} {finding.message}", finding.level, colour=colour)
    for line in finding.evidence:
        yield _plain(f"           {line}")
    if finding.remedy:
        yield _plain(f"        do {finding.remedy}")


def _plain(text: str) -> str:
    return printable(masked(text), limit=LONGEST_LINE)


def _painted(text: str, level: str, *, colour: bool) -> str:
    return f"\x1b[{COLOURS[level]}m{_plain(text)}\x1b[0m" if colour else _plain(text)
