"""The logs of a unit's runs while one of them is watched: live lines, and readings of a whole run."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from dflashtui.errors import DflashError
from dflashtui.model.journal import JournalEntry
from dflashtui.ops.probe_log import RunLog

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from dflashtui.fleet.base import Fleet
    from dflashtui.model.journal import JournalItem
    from dflashtui.ops.probe_wanted import Timers, Wanted

HISTORY_LINES = 5000
QUIET_SECONDS = 0.2
QUIET_ROUNDS = 15
RETRY_SECONDS = 0.1
RUNS_KEPT = 4
SKIPPED_LINES = 10
SKIPPED = re.compile(r"was skipped because|Condition check resulted in .{0,400} being skipped")
"""systemd's job.c; the message id of its own (0e4284a0…) is not on this line in 252."""


class RunLogs:
    """By invocation; the newest few."""

    def __init__(self, fleet: Fleet, wanted: Wanted, timers: Timers) -> None:
        self.problem: str | None = None
        """Why the journal could not be read, if it could not."""
        self._fleet = fleet
        self._wanted = wanted
        self._timers = timers
        self._deadline = timers.monotonic() + wanted.limit_seconds
        self._logs: dict[str, RunLog] = {}

    def of(self, run_id: str, began_at: datetime | None = None) -> RunLog:
        """The log of one run."""
        if run_id not in self._logs:
            self._logs[run_id] = RunLog(self._wanted.host, self._wanted.engine, began_at)
            for oldest in list(self._logs)[:-RUNS_KEPT]:
                del self._logs[oldest]
        return self._logs[run_id]

    def feed(self, items: Iterable[JournalItem]) -> None:
        """Lines as they come, of whichever run."""
        for item in items:
            if isinstance(item, JournalEntry) and item.invocation_id:
                self.of(item.invocation_id).feed(item)

    async def read(self, run_id: str) -> int:
        """Read the run's log now; how many lines were new. Waits for a link that is coming back."""
        while True:
            try:
                found = await self._history(run_id)
            except DflashError as trouble:
                self.problem = str(trouble)
                if not trouble.transient or self._timers.monotonic() >= self._deadline:
                    return 0
                await self._timers.sleep(RETRY_SECONDS)
            else:
                self.problem = None
                return self.of(run_id).catch_up(found)

    async def read_the_rest(self, run_id: str) -> None:
        """The end of a unit and its last lines come by different ways.

        Have journald take in what is on its way (root may), else read until no more lines come.
        """
        if await self._is_synced():
            await self.read(run_id)
            return
        for _ in range(QUIET_ROUNDS):
            await self._timers.sleep(QUIET_SECONDS)
            if not await self.read(run_id):
                return

    async def skipped(self) -> str | None:
        """The manager's newest sentence about a condition of the unit that was not met."""
        try:
            found = await self._fleet.history(self._wanted.host, self._wanted.unit, lines=SKIPPED_LINES)
        except DflashError:
            return None
        entries = [item for item in found if isinstance(item, JournalEntry) and item.from_manager]
        return next((entry.message for entry in reversed(entries) if SKIPPED.search(entry.message)), None)

    async def _history(self, run_id: str) -> tuple[JournalItem, ...]:
        wanted = self._wanted
        return await self._fleet.history(wanted.host, wanted.unit, lines=HISTORY_LINES, invocation_id=run_id)

    async def _is_synced(self) -> bool:
        try:
            return await self._fleet.sync_journal(self._wanted.host)
        except DflashError:
            return False
