"""What the journal says of one run: phases, the cause, the last lines. No I/O; memory does not grow with the log."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from dflashtui.engines.phases import PhaseReader
from dflashtui.fleet.causes import RunDiagnosis
from dflashtui.model.journal import JournalEntry
from dflashtui.model.probe import PhaseTime
from dflashtui.source.journal_place import place, stands_at_or_before

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from dflashtui.model.finding import Cause
    from dflashtui.model.journal import JournalItem
    from dflashtui.model.probe import GoodStart, Phase
    from dflashtui.model.unit import UnitStatus

LINES_KEPT = 60
LINE_CHARACTERS = 8192
PIDS_KEPT = 1024
STOPPING = "de5b426a63be47a7b6ac3eaac82e2f6f"
MAIN_EXITED = "98e322203f7a4ed290d09fe03c09fe15"
"""systemd's sd-messages.h; believed only from the manager itself."""


class RunLog:
    """The lines of one invocation, in order and each once, whichever way they come."""

    def __init__(self, host: str, engine: str | None, began_at: datetime | None = None) -> None:
        """`began_at`: of the run, by the host's clock; else its first line tells."""
        self.lines: deque[str] = deque(maxlen=LINES_KEPT)
        self.pids: set[int] = set()
        self.last_line_at: datetime | None = None
        self.stop_was_asked = False
        """Somebody had systemd stop it, before it ended."""
        self.count = 0
        self._diagnosis = RunDiagnosis(host)
        self._reader = PhaseReader(engine)
        self._began_at = began_at
        self._marks: list[tuple[Phase, datetime]] = []
        self._last_cursor: str | None = None
        self._has_ended = False

    @property
    def says_ready(self) -> bool:
        """The engine has said that it is ready."""
        return self._reader.is_ready

    def feed(self, entry: JournalEntry) -> bool:
        """Take an entry; whether it was new."""
        if self._last_cursor and stands_at_or_before(entry.cursor, place(self._last_cursor)):
            return False
        self._take(entry)
        return True

    def catch_up(self, items: Iterable[JournalItem]) -> int:
        """Take what stands in a reading of the whole run after the last entry that is known; how many that were."""
        entries = [item for item in items if isinstance(item, JournalEntry)]
        known = next((at for at, entry in enumerate(entries, 1) if entry.cursor == self._last_cursor), 0)
        for entry in entries[known:]:
            self._take(entry)
        return len(entries) - known

    def from_kernel(self, text: str, at: datetime) -> None:
        """A fault of this run's processes or GPUs that the kernel told."""
        self._diagnosis.from_kernel(text, at)

    def suspected(self) -> Cause | None:
        """Why it may end soon."""
        return self._diagnosis.suspected()

    def concluded(self, unit: UnitStatus | None) -> tuple[Cause | None, tuple[Cause, ...]]:
        """Why it ended, and what else failed in it; with the manager's result of `unit`. More may be fed later."""
        return self._diagnosis.concluded(unit)

    def phases(self, usual: GoodStart | None, until: datetime | None = None) -> tuple[PhaseTime, ...]:
        """Each phase with its time; the last goes on, unless `until` ends it."""
        if self._began_at is None or not self._marks:
            return ()
        before = {one.phase.key: one.seconds for one in usual.phases} if usual else {}
        ends = [*(at for _, at in self._marks[1:]), until]
        return tuple(
            PhaseTime(
                phase=phase,
                began_seconds=max(0.0, (at - self._began_at).total_seconds()),
                seconds=None if end is None else max(0.0, (end - at).total_seconds()),
                usual_seconds=before.get(phase.key),
            )
            for (phase, at), end in zip(self._marks, ends, strict=True)
        )

    def _take(self, entry: JournalEntry) -> None:
        self._last_cursor = entry.cursor
        self.count += 1
        self._began_at = self._began_at or entry.at
        self._diagnosis.feed(entry)
        self.lines.append(entry.message[:LINE_CHARACTERS])
        if entry.from_manager:
            self._manager(entry)
            return
        self.last_line_at = entry.at
        if entry.pid is not None and len(self.pids) < PIDS_KEPT:
            self.pids.add(entry.pid)
        self._reader.feed(entry.message)
        self._mark(entry.at)

    def _mark(self, at: datetime) -> None:
        """The phase that stands now; a later state of the same phase replaces the earlier one."""
        phase = self._reader.current
        if not self._marks:
            self._marks.append((phase, self._began_at or at))
        elif self._marks[-1][0].key == phase.key:
            self._marks[-1] = (phase, self._marks[-1][1])
        else:
            self._marks.append((phase, at))

    def _manager(self, entry: JournalEntry) -> None:
        match entry.message_id:
            case str(mark) if mark == STOPPING and not self._has_ended:
                self.stop_was_asked = True
            case str(mark) if mark == MAIN_EXITED:
                self._has_ended = True
