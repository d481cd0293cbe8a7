"""A deployment for scripts and for people. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflashtui.exit_code import ExitCode, worst
from dflashtui.mask import masked
from dflashtui.model.deploy import FORWARD, Outcome, StepState
from dflashtui.ops.probe_report import document as probe_document
from dflashtui.ops.probe_report import span
from dflashtui.text import printable, shortened

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from dflashtui.model.deploy import HostDeploy, StepNews

EXIT_CODES = {
    Outcome.READY: ExitCode.OK,
    Outcome.STOPPED: ExitCode.OK,
    Outcome.LOADING: ExitCode.WARNING,
    Outcome.UNKNOWN: ExitCode.UNKNOWN,
    Outcome.INTERRUPTED: ExitCode.INTERRUPTED,
}
"""Every other outcome is a failure; one that was skipped has a failure, or an interruption, before it."""
WORDS = {
    Outcome.PUT_BACK: "failed, and put back: the old text is ready again",
    Outcome.UNKNOWN: "unknown: nobody could see how it ended",
}
COLOURS = {ExitCode.OK: "32", ExitCode.WARNING: "33", ExitCode.UNKNOWN: "35", ExitCode.INTERRUPTED: "33"}
RED = "31"
MARKS = {
    StepState.WAITING: "·",
    StepState.RUNNING: "…",
    StepState.DONE: "✓",
    StepState.SKIPPED: "–",
    StepState.FAILED: "✗",
    StepState.LOADING: "~",
    StepState.UNKNOWN: "?",
}
ASCII_MARKS = {**dict.fromkeys(MARKS, "?"), StepState.WAITING: ".", StepState.RUNNING: ">"} | {
    StepState.DONE: "+",
    StepState.SKIPPED: "-",
    StepState.FAILED: "x",
    StepState.LOADING: "~",
}
CELL, LAST_CELL = 18, 34


def exit_code(rows: Sequence[HostDeploy]) -> ExitCode:
    """What the command says of all of it (contract, part 2)."""
    codes = [EXIT_CODES.get(row.outcome, ExitCode.FAILED) for row in rows if row.outcome]
    if ExitCode.INTERRUPTED in codes:
        return ExitCode.INTERRUPTED
    return worst(*codes)


def document(row: HostDeploy) -> dict[str, object]:
    """The JSON of one host: its steps, and the probe's own document."""
    return {
        "schema": 1,
        "host": row.host,
        "unit": row.unit,
        "outcome": row.outcome.value if row.outcome else None,
        "steps": [_step(news) for news in row.steps],
        "probe": probe_document(row.probe) if row.probe else None,
    }


def _step(news: StepNews) -> dict[str, object]:
    return {
        "name": news.step.value,
        "state": news.state.value,
        "message": masked(news.words),
        "lines": [masked(line) for line in news.lines],
        "duration_s": None if news.seconds is None else round(news.seconds, 3),
    }


def lines(row: HostDeploy, *, colour: bool = False) -> Iterator[str]:
    """One host in words: what it was left with, then each step."""
    yield f"{printable(row.host)}: {printable(row.unit)}: {_outcome(row, colour=colour)}"
    for news in row.steps:
        took = "" if news.seconds is None else f" ({span(news.seconds)})"
        yield f"  {news.step.value:<12}{news.state.value:<9}{printable(masked(news.words))}{took}"
        yield from (f"    {printable(masked(line))}" for line in news.lines)


def _outcome(row: HostDeploy, *, colour: bool) -> str:
    if row.outcome is None:
        return "under way"
    words = WORDS.get(row.outcome, row.outcome.value)
    if not colour:
        return words
    code = EXIT_CODES.get(row.outcome, ExitCode.FAILED)
    return f"\x1b[{COLOURS.get(code, RED)}m{words}\x1b[0m"


def table(rows: Iterable[HostDeploy], width: int, *, is_ascii: bool = False) -> list[str]:
    """Hosts × steps as they stand, a line each below a heading; none is wider than `width` cells."""
    rows = list(rows)
    name = min(24, max((len(row.host) for row in rows), default=4))
    head = f"{'host':<{name}} " + " ".join(f"{step.value:<{CELL}}" for step in FORWARD)
    marks = ASCII_MARKS if is_ascii else MARKS
    drawn = [shortened(head.rstrip(), width), *(shortened(_row(row, name, marks), width) for row in rows)]
    return [line.replace("…", "~") for line in drawn] if is_ascii else drawn


def _row(row: HostDeploy, name: int, marks: dict[StepState, str]) -> str:
    cells = [_cell(news, marks) for news in row.steps]
    return f"{shortened(printable(row.host), name):<{name}} " + " ".join(f"{cell:<{CELL}}" for cell in cells).rstrip()


def _cell(news: StepNews, marks: dict[StepState, str]) -> str:
    took = "" if news.seconds is None else f" {span(news.seconds)}"
    words = printable(masked(news.words)) if news.state in {StepState.FAILED, StepState.RUNNING} else news.state.value
    return shortened(f"{marks[news.state]}{took} {words if news.state is not StepState.WAITING else ''}".rstrip(), CELL)
