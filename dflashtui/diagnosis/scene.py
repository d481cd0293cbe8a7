"""What the readers of one log share: the run, its open tracebacks, where we are."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from dflashtui.diagnosis.candidate import Candidate
from dflashtui.diagnosis.channels import Channels
from dflashtui.diagnosis.run import Run
from dflashtui.diagnosis.torchrun import Table

if TYPE_CHECKING:
    from dflashtui.diagnosis.form import Weight
    from dflashtui.diagnosis.line import Line
    from dflashtui.diagnosis.prefixes import Stripped

NEAR_LINES = 3
"""Lines before a header that tell what it is about, such as "Task exception was never retrieved"."""


class Said(NamedTuple):
    """A line of no traceback."""

    at: int
    """Which line of the log: `Scene.count`."""
    text: str
    level: str | None
    process: str | None


class Written(NamedTuple):
    """A text without its prefixes, and who wrote it where."""

    look: Stripped
    pid: int | None
    """As the journal, or journalctl's short form, knows it."""
    line: Line


@dataclass(slots=True)
class Scene:
    """Of bounded size for a log of any length."""

    run: Run = field(default_factory=Run)
    channels: Channels = field(default_factory=Channels)
    table: Table = field(default_factory=Table)
    cell: Candidate | None = None
    """The row of a table that goes on in the next."""
    count: int = 0
    """Lines so far."""
    order: int = 0
    """Candidates so far."""
    version: int = 0
    """Changes with all that may change the cause."""
    said: tuple[Said, ...] = ()
    """The last lines of no traceback, the newest first."""

    def candidate(self, weight: Weight, by: Written, label: str | None = None) -> Candidate:
        """A new one, from this line."""
        self.order += 1
        self.version += 1
        look, line = by.look, by.line
        where = line._replace(host=line.host or look.host, identifier=line.identifier or look.identifier)
        pid = by.pid if by.pid is not None else look.pid
        new = Candidate(self.order, weight, where, last=line.number, label=label or look.process, pid=pid)
        self.run.add(new)
        return new

    def begin_run(self, line: Line) -> None:
        """What comes now belongs to the next attempt."""
        self.run = Run(began=line.number)
        self.channels.close_all()
        self.table = Table()
        self.cell = None
        self.version += 1

    def note(self, text: str, look: Stripped) -> None:
        """Remember a line of no traceback."""
        self.said = (Said(self.count, text, look.level, look.process), *self.said[: NEAR_LINES - 1])
