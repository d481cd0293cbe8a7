"""A crash card in lines: the cause first, then what is known, what to do, and the log with the cause marked. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflashtui.text import human_span, printable
from dflashtui.tui.crash.words import CONFIDENCE, kind_in_words, place, short_place, told
from dflashtui.tui.details.parts import fact, facts, heading, moment, wrapped
from dflashtui.tui.glyphs import unit_state
from dflashtui.tui.styled import EMPTY, Cell, cell

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from dflashtui.model.failed_run import FailedRun, LogLine
    from dflashtui.model.finding import Cause
    from dflashtui.ops.remedy_value import HostRemedy
    from dflashtui.tui.crash.state import CardState

MOST_OTHERS = 3
TITLE_LINES = 6
GUTTERS = {
    "cause": ("▶ ", "bad", "bad"),
    "trace": ("│ ", "bad", ""),
    "manager": ("▸ ", "dim", "dim"),
    "gap": ("  ", "dim", "dim"),
    "": ("  ", "dim", "dim"),
}
"""Sign at the left, its tone, and the tone of the text."""


def card_lines(state: CardState, width: int) -> tuple[Cell, ...]:
    """Everything, for a page of `width` cells."""
    return (*_cause(state, width), *_now(state), *_facts(state), *_to_do(state, width), *_log(state))


def cause_row(lines: tuple[Cell, ...]) -> int | None:
    """On which line the log tells the cause."""
    return next((row for row, line in enumerate(lines) if line and line[0] == GUTTERS["cause"][:2]), None)


def _cause(state: CardState, width: int) -> tuple[Cell, ...]:
    cause, run = state.cause, state.run
    if cause is not None:
        sure = ("suspected: the start goes on", "warn") if run is None else (CONFIDENCE[cause.confidence], "dim")
        head: Cell = (("× ", "bad"), (kind_in_words(cause), "bad strong"), ("  ·  ", "dim"), sure)
        text = wrapped(told(cause), max(20, width - 2), "strong")[:TITLE_LINES]
        return (head, *((("  ", ""), *line) for line in text), EMPTY)
    if run is None and state.update is not None:
        return (cell("nothing is suspected any more: the service went on", "dim"), EMPTY)
    if run is None:
        return (cell("reading the journal of its last failed run …", "dim"), EMPTY)
    if run.problem:
        return (cell(f"▲ {printable(run.problem, limit=500)}", "warn"), EMPTY)
    return ((("○ ", "off"), ("no failure found in this run", "strong")), EMPTY)


def _now(state: CardState) -> tuple[Cell, ...]:
    """What became of the unit since."""
    update, status = state.update, state.status
    parts: list[tuple[str, str]] = []
    if status is not None:
        now = unit_state(status, state.now)
        parts += [(f"{now.glyph} {now.word}", now.role)]
        if status.next_restart_at is not None:
            due = max(0.0, (status.next_restart_at - state.now).total_seconds())
            parts += [(f" · systemd starts it again in {human_span(due)}", "dim")]
    if update is not None:
        parts += [(f" · {printable(update.words, limit=160)}", "busy" if update.result is None else "dim")]
    return (fact("now", tuple(parts)),) if parts else ()


def _facts(state: CardState) -> tuple[Cell, ...]:
    run, cause = state.run, state.cause
    own = cause.own_location if cause and cause.own_location != cause.location else None
    return (
        *facts(
            ("process", cell(printable(cause.process, limit=120)) if cause and cause.process else None),
            ("at", cell(short_place(cause.location)) if cause and cause.location else None),
            ("own code", cell(short_place(own)) if own else None),
            ("seen", cell(f"{cause.folded + 1} times (other ranks, copies)") if cause and cause.folded else None),
        ),
        *(_run_facts(run, state) if run else ()),
    )


def _run_facts(run: FailedRun, state: CardState) -> tuple[Cell, ...]:
    return (
        *facts(
            ("ended", _ended(run)),
            ("when", _when(run, state)),
            ("restarts", _restarts(run)),
            *_column("kernel", run.neighbours, "bad"),
            *_column("GPUs before", run.gpus_before, ""),
            *_unit_file(run, state),
            *_column("also seen", (told(other) for other in run.others[:MOST_OTHERS]), "dim"),
        ),
        *(facts(("but", cell(printable(run.problem, limit=300), "warn"))) if run.problem and run.cause else ()),
    )


def _ended(run: FailedRun) -> Cell | None:
    words = printable(run.words, limit=200)
    return cell(words, "bad") if words else None


def _when(run: FailedRun, state: CardState) -> Cell | None:
    at = moment(run.ended_at, state.now)
    if at is None or run.started_at is None or run.ended_at is None:
        return at
    lived = (run.ended_at - run.started_at).total_seconds()
    return (*at, (f" · lived {human_span(lived)}" if lived >= 1 else " · lived less than a second", "dim"))


def _restarts(run: FailedRun) -> Cell | None:
    if not run.n_restarts:
        return None
    return cell(f"{run.n_restarts} by systemd before this run", "warn")


def _column(label: str, texts: Iterable[str], tone: str) -> Iterator[tuple[str, Cell | None]]:
    """A fact of several lines: the label stands once."""
    for number, text in enumerate(texts):
        yield ("" if number else label), cell(printable(text, limit=400), tone)


def _unit_file(run: FailedRun, state: CardState) -> Iterator[tuple[str, Cell | None]]:
    if run.good_start_at is None or run.unit_changes is None:
        return
    ago = human_span((state.now - run.good_start_at).total_seconds())
    if not run.unit_changes:
        yield "unit file", cell(f"unchanged since the last good start, {ago} ago", "dim")
        return
    yield "unit file", cell(f"changed since the last good start, {ago} ago:", "warn")
    for line in run.unit_changes:
        yield "", cell(printable(line, limit=300), "ok" if line.startswith("+") else "bad")


def _to_do(state: CardState, width: int) -> tuple[Cell, ...]:
    if state.cause is None:
        return ()
    if state.remedies is None:
        return (*heading("what to do"), cell("asking the host …", "dim"))
    if not state.remedies:
        return ()
    keys = dict(state.runnable)
    lines = [line for key, one in enumerate(state.remedies, 1) for line in _remedy(key, one, key in keys, width)]
    return (*heading("what to do"), *lines)


def _remedy(key: int, remedy: HostRemedy, runs: bool, width: int) -> Iterator[Cell]:  # noqa: FBT001 - a fact about it
    """`1  install …`; the command below it, then the facts behind it."""
    sign = (f"{key:<3}", "accent strong") if runs else ("·  ", "dim")
    for number, line in enumerate(wrapped(remedy.title, max(20, width - 3), "" if not runs else "strong")):
        yield (sign if number == 0 else ("   ", ""), *line)
    if remedy.command:
        for line in wrapped(remedy.command, max(20, width - 5), "accent" if runs else "dim"):
            yield (("   $ ", "dim"), *line) if line else EMPTY
    for detail in remedy.details:
        for line in wrapped(detail, max(20, width - 3), "dim"):
            yield (("   ", ""), *line)
    for reason in remedy.reasons:
        for line in wrapped(f"▲ {reason}", max(20, width - 3), "warn"):
            yield (("   ", ""), *line)


def _log(state: CardState) -> tuple[Cell, ...]:
    run = state.run
    if run is None or not run.lines:
        return ()
    shown = sum(line.mark != "gap" for line in run.lines)
    count = f"{shown} of {run.line_count} lines" if run.line_count > shown else f"{shown} lines"
    return (EMPTY, (("log of this run", "title"), (f"  {count}", "dim")), *map(_log_line, run.lines))


def _log_line(line: LogLine) -> Cell:
    sign, tone, text_tone = GUTTERS[line.mark]
    text = f"… {line.text} …" if line.mark == "gap" else line.text
    return ((sign, tone), (printable(text, limit=2000).replace("\t", "    "), text_tone))


def cause_text(cause: Cause) -> str:
    """What `c` copies: a few lines that a person can paste."""
    where = [f"  at {place(spot)}" for spot in dict.fromkeys((cause.location, cause.own_location)) if spot]
    whose = f"{cause.unit or '?'} on {cause.host or '?'}"
    return "\n".join([f"{printable(whose)}: {cause.kind}", told(cause), *where])
