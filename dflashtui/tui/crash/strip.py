"""One line about the starts that are watched, above the footer. Pure but for the widget."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from dflashtui.model.probe import Verdict
from dflashtui.text import human_span, printable
from dflashtui.tui.bar import Bar
from dflashtui.tui.crash.words import told
from dflashtui.tui.rows.words import unit_label
from dflashtui.tui.styled import EMPTY, Cell, cell, join

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dflashtui.model.probe import PhaseTime, ProbeResult, ProbeUpdate

VERDICTS = {
    Verdict.READY: ("●", "ok"),
    Verdict.LOADING: ("◐", "busy"),
    Verdict.SICK: ("▲", "warn"),
    Verdict.STOPPED: ("○", "off"),
    Verdict.UNKNOWN: ("◌", "warn"),
}
"""Sign and role; every other verdict is a failure."""
FAILURES = frozenset({Verdict.CRASHED, Verdict.FAILED_TO_START, Verdict.CRASH_LOOPING})


class Watched(NamedTuple):
    """A start that is watched, or whose verdict is still worth a line."""

    host: str
    unit: str
    elapsed_seconds: float
    update: ProbeUpdate | None = None

    @property
    def result(self) -> ProbeResult | None:
        """The verdict."""
        return self.update.result if self.update else None


class StartStrip(Bar):
    """Seen while a start is watched."""

    DEFAULT_CSS = "StartStrip { display: none; height: 1; }"

    def show(self, watched: Sequence[Watched]) -> None:
        """The newest starts."""
        self.display = bool(watched)
        if watched:
            self.left, self.right = strip(watched)


def strip(watched: Sequence[Watched]) -> tuple[Cell, Cell]:
    """What the line says: left the start, right the keys."""
    going = [one for one in watched if one.result is None]
    keys: list[Cell] = []
    if any(one.update and (one.update.suspected or _has_failed(one)) for one in watched):
        keys.append((("x", "accent"), (" why", "dim")))
    if going:
        keys.append((("W", "accent"), (" stop watching", "dim")))
    left = _one(watched[-1]) if len(watched) == 1 else _several(watched)
    return ((" ", ""), *left), (*join(keys, "  "), (" ", ""))


def _has_failed(one: Watched) -> bool:
    return one.result is not None and one.result.verdict in FAILURES


def _several(watched: Sequence[Watched]) -> Cell:
    """`4 starts · 2 ready · 1 failed · sglang-a on gpu07: loading …`."""
    ready = sum(one.result is not None and one.result.verdict is Verdict.READY for one in watched)
    failed = sum(map(_has_failed, watched))
    counts = (
        cell(f"{len(watched)} starts", "strong"),
        cell(f"{ready} ready", "ok") if ready else EMPTY,
        cell(f"{failed} failed", "bad") if failed else EMPTY,
    )
    newest = max(watched, key=lambda one: (one.result is None, one.elapsed_seconds))
    return (*join(counts, " · "), ("   ", ""), *_one(newest))


def _one(one: Watched) -> Cell:
    name: Cell = ((unit_label(one.unit), "strong"), (f" on {printable(one.host)}", "dim"))
    if one.result is not None:
        return _ended(one.result, name)
    update = one.update
    doing = printable(update.words, limit=120) if update and update.words else "waiting for systemd"
    parts = (
        cell(f"suspected: {told(update.suspected)}", "bad") if update and update.suspected else EMPTY,
        cell(doing, "busy"),
        _times(update.phase, one.elapsed_seconds) if update else cell(human_span(one.elapsed_seconds), "dim"),
    )
    return (("◐ ", "busy"), *name, ("  ", ""), *join(parts, " · "))


def _times(phase: PhaseTime | None, elapsed_seconds: float) -> Cell:
    """`1m10s of ~1m50s`: of the start, and what this phase took the last time."""
    usual = f", this step ~{human_span(phase.usual_seconds)}" if phase and phase.usual_seconds else ""
    return cell(f"{human_span(elapsed_seconds)}{usual}", "dim")


def _ended(result: ProbeResult, name: Cell) -> Cell:
    glyph, role = VERDICTS.get(result.verdict, ("×", "bad"))
    word = result.verdict.value.replace("-", " ")
    took = f" after {human_span(result.elapsed_seconds)}" if result.elapsed_seconds >= 1 else " within a second"
    why = told(result.cause) if result.cause else printable(result.words, limit=200)
    return ((f"{glyph} ", role), *name, ("  ", ""), (word, role), (took, "dim"), (" · ", "dim"), (why, ""))
