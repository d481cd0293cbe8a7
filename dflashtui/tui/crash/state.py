"""All that a crash card draws, as one value. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

    from dflashtui.model.failed_run import FailedRun
    from dflashtui.model.finding import Cause
    from dflashtui.model.probe import ProbeUpdate
    from dflashtui.model.unit import UnitStatus
    from dflashtui.ops.remedy_value import HostRemedy


@dataclass(frozen=True, slots=True)
class CardState:
    """One moment of a card."""

    host: str
    unit: str
    now: datetime
    run: FailedRun | None = None
    """`None`: its journal is being read, or the start is still going on."""
    remedies: tuple[HostRemedy, ...] | None = None
    """`None`: the host is being asked."""
    suspected: Cause | None = None
    """While the start goes on."""
    status: UnitStatus | None = None
    """The unit as it is now."""
    update: ProbeUpdate | None = None
    """The newest word of a start that is watched."""
    number: int = 0
    total: int = 0
    """Which of the kept runs this is, the newest first."""
    may_change: bool = True
    """False: read-only."""
    can_undo: bool = False
    """Unit files of this host can be put back."""

    @property
    def cause(self) -> Cause | None:
        """What the card is about."""
        return self.run.cause if self.run else self.suspected

    @property
    def runnable(self) -> tuple[tuple[int, HostRemedy], ...]:
        """The remedies that a key runs, with their keys."""
        if not self.may_change:
            return ()
        return tuple((key, one) for key, one in enumerate(self.remedies or (), 1) if one.argv)

    @property
    def cure(self) -> HostRemedy | None:
        """The one that *fix and restart* runs."""
        return next((one for _, one in self.runnable if one.is_cure), None)
