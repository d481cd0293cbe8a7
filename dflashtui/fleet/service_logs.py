"""What services print, as it passes by: phases of their start, figures of their work, and that they are stopped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflashtui.engines.log_figures import LogFigures
from dflashtui.engines.phases import PhaseReader
from dflashtui.model.journal import JournalEntry

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from dflashtui.fleet.host_state import HostState
    from dflashtui.model.journal import JournalItem

UP = frozenset({"http", "warm-up", "ready"})
STOPPING = "de5b426a63be47a7b6ac3eaac82e2f6f"
"""SD_MESSAGE_UNIT_STOPPING (sd-messages(3))."""


class ServiceLogs:
    """Hears every line of the units that are services; keeps readers for their newest run."""

    def __init__(
        self, state: HostState, engines: Mapping[str, str], on_up: Callable[[str], None] = lambda _: None
    ) -> None:
        """`engines`: by unit, as in the inventory; `on_up`: told when one says that HTTP is up, or that it is ready."""
        self._state = state
        self._engines = engines
        self._on_up = on_up
        self._readers: dict[str, tuple[str, PhaseReader, LogFigures]] = {}

    def hear(self, items: Sequence[JournalItem]) -> None:
        """Lines in order; those of other units cost nothing."""
        for item in items:
            if isinstance(item, JournalEntry) and item.unit in self._engines:
                self._hear(item, item.unit or "")

    def _hear(self, entry: JournalEntry, unit: str) -> None:
        if entry.from_manager:
            if entry.message_id == STOPPING:
                self._state.note_run(unit, self._run_of(unit) or entry.invocation_id, stop_was_asked=True)
            return
        if entry.invocation_id is None:
            return
        phases, figures = self._of(unit, entry.invocation_id)
        if phase := phases.feed(entry.message):
            self._state.note_run(unit, entry.invocation_id, phase=phase, phase_since=entry.at)
            if phase.name in UP:
                self._on_up(unit)
        if load := figures.feed(entry.message, entry.at):
            self._state.note_log_load(unit, entry.invocation_id, load)

    def _run_of(self, unit: str) -> str | None:
        status = self._state.snapshot.unit(unit)
        return status.invocation_id if status else None

    def _of(self, unit: str, invocation_id: str) -> tuple[PhaseReader, LogFigures]:
        known = self._readers.get(unit)
        if known is None or known[0] != invocation_id:
            known = (invocation_id, PhaseReader(self._engines[unit]), LogFigures())
            self._readers[unit] = known
        return known[1], known[2]
