"""What a listener is told while a start is watched: only what changed since it was told last."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dflashtui.model.host import LinkState
from dflashtui.model.probe import ProbeResult, ProbeUpdate
from dflashtui.model.unit import ActiveState
from dflashtui.ops import probe_words as words

if TYPE_CHECKING:
    from collections.abc import Callable

    from dflashtui.model.finding import Cause
    from dflashtui.model.probe import PhaseTime
    from dflashtui.model.unit import UnitStatus
    from dflashtui.ops.probe_wanted import Timers, Wanted

    Tell = Callable[[ProbeUpdate], None]


@dataclass(frozen=True, slots=True)
class State:
    """What there is to tell at a moment."""

    words: str = ""
    phase: PhaseTime | None = None
    suspected: Cause | None = None
    neighbours: tuple[str, ...] = ()


class News:
    """One listener."""

    def __init__(self, wanted: Wanted, tell: Tell, timers: Timers) -> None:
        self.link = LinkState.UP
        self._wanted = wanted
        self._tell = tell
        self._timers = timers
        self._began = timers.monotonic()
        self._told = State()

    @property
    def elapsed_seconds(self) -> float:
        """Since the probe began."""
        return self._timers.monotonic() - self._began

    def state(self, witness: str, state: State) -> None:
        """Tell how it stands, if that is new."""
        if state != self._told:
            self._told = state
            self._say(witness, state.words)

    def linked(self, link: LinkState, error: str | None) -> None:
        """Tell that the link was lost, or is back; the start goes on meanwhile."""
        before, self.link = self.link, link
        if before is link:
            return
        if link is LinkState.UP:
            self._say("link", words.LINK_BACK)
        elif before is LinkState.UP:
            self._say("link", f"{words.LINK_LOST}: {error}" if error else words.LINK_LOST)

    def result(self, witness: str, result: ProbeResult) -> ProbeResult:
        """Tell the verdict."""
        self._say(witness, result.words, result)
        return result

    def _say(self, witness: str, sentence: str, result: ProbeResult | None = None) -> None:
        told = self._told
        update = ProbeUpdate(
            host=self._wanted.host,
            unit=self._wanted.unit,
            elapsed_seconds=self.elapsed_seconds,
            witness=witness,
            words=sentence,
            phase=told.phase,
            suspected=None if result else told.suspected,
            result=result,
        )
        self._tell(update)


def doing(unit: UnitStatus | None, phase: PhaseTime | None) -> str:
    """What a start is doing: the engine's phase, else the manager's word."""
    if unit is None:
        return "waiting for systemd to start it"
    if unit.active_state is ActiveState.DEACTIVATING:
        return "ending"
    if phase is None:
        return f"{unit.active_state.value} ({unit.sub_state})"
    part = f" of the {phase.phase.part} model" if phase.phase.part else ""
    percent = f" {phase.phase.percent} %" if phase.phase.percent is not None else ""
    return f"{phase.phase.words}{part}{percent}"
