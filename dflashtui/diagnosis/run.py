"""One run of the service: what was seen of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from dflashtui.diagnosis import roles
from dflashtui.diagnosis.form import Weight

if TYPE_CHECKING:
    from dflashtui.diagnosis.candidate import Candidate
    from dflashtui.diagnosis.line import Line

KEPT_FIRST = 40
KEPT_LAST = 40
LIVED_ON_LINES = 8
"""Ordinary lines of the same process after a failure: it was not its end."""
WATCH_LINES = 3000
PASSED_LINES = 60
LINE_WEIGHTS = frozenset({Weight.TELLING, Weight.GENERAL})


@dataclass(slots=True)
class Run:
    """Candidates in the order of printing; bounded: the first ones and the last ones are kept."""

    invocation_id: str | None = None
    candidates: list[Candidate] = field(default_factory=list)
    watched: list[tuple[int, Candidate]] = field(default_factory=list)
    """Those after which it is not yet clear whether their process lived on, and since which line."""
    is_ready: bool = False
    is_dead: bool = False
    is_over: bool = False
    """The manager said so: another start is another run."""
    stopped_at: int | None = None
    """Somebody asked for the stop; what follows in the order of candidates is no failure."""
    guilty: set[str] = field(default_factory=set)
    """`rank3`, `pid71`: named by a launcher as the first to fail."""
    last_words: Line | None = None
    """The service's last ordinary line: the text of a `sys.exit("…")`."""
    errors: dict[tuple[str, str | None], Candidate] = field(default_factory=dict)
    """The error lines without their digits."""
    repeated: dict[str, Candidate] = field(default_factory=dict)
    """Whole lines without their digits that were such an error before: told at once."""
    pids: set[int] = field(default_factory=set)
    """Of the service's processes that wrote, as the journal knows them; a few of them."""
    began: int | None = None
    lines: int = 0
    ordinary: int = 0
    """Lines that tell of nothing."""

    def add(self, candidate: Candidate) -> None:
        """One more; beyond the bound a middle one goes."""
        candidate.since, candidate.ordinary_before = self.lines, self.ordinary
        self.candidates.append(candidate)
        if candidate.weight not in LINE_WEIGHTS:
            self.watched.append((self.lines, candidate))
        if len(self.candidates) > KEPT_FIRST + KEPT_LAST:
            del self.candidates[KEPT_FIRST]
        if len(self.watched) > KEPT_LAST:
            del self.watched[0]

    def drop(self, candidate: Candidate) -> None:
        """It was none."""
        self.candidates = [one for one in self.candidates if one is not candidate]
        self.watched = [entry for entry in self.watched if entry[1] is not candidate]

    def age(self) -> None:
        """Error lines with many ordinary lines behind them were no end; they are too many to watch each."""
        for one in self.candidates:
            if one.weight in LINE_WEIGHTS and self.ordinary - one.ordinary_before >= PASSED_LINES:
                one.life = max(one.life, LIVED_ON_LINES)

    def live(self, text: str, pid: int | None, label: str | None) -> None:
        """An ordinary line of a process: what failed in it before was not its end."""
        served = roles.ALIVE.search(text) is not None
        if text[:1] in {" ", "\t"} or not text:
            return
        if not served and roles.ENDING.search(text):
            return
        for _, one in self.watched:
            if one.label == label and (one.pid == pid or one.pid is None or pid is None):
                one.life += 1
                one.is_survived |= served
        self.watched = [
            (since, one)
            for since, one in self.watched
            if one.life < LIVED_ON_LINES and not one.is_survived and self.lines - since < WATCH_LINES
        ]
