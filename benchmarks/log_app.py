"""python -m benchmarks.log_app REPORT RATE SECONDS UNIT…: a log pane under a flood, with all that stands before it.

Bytes of journalctl come from a child process; they are decoded, shed, kept and handed on as a host's are. Several units
are merged into one stream. What came of it is written to REPORT as JSON.
"""

from __future__ import annotations

import asyncio
import json
import resource
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from dflashtui.fleet.journal_feed import PERIOD_SECONDS
from dflashtui.fleet.journal_logs import UnitLogs
from dflashtui.model.journal import JournalEntry
from dflashtui.source.journal_chunks import pieces
from dflashtui.source.journal_cursor import ResumePoint
from dflashtui.source.journal_reading import Reading
from dflashtui.source.journal_shed import Quota
from dflashtui.tui import garbage
from dflashtui.tui.journal.following import _merge_into
from dflashtui.tui.log.record import Source
from dflashtui.tui.log.widget import LogPane
from dflashtui.tui.threads import take_turns_quickly

if TYPE_CHECKING:
    from textual.app import ComposeResult

    from dflashtui.fleet.journal_feed import JournalFeed
    from dflashtui.model.journal import JournalItem
    from dflashtui.tui.journal.following import Arrival

CHUNK_BYTES = 2**17
QUIET_SECONDS = 1.5


class LogApp(garbage.TidiesWhenQuiet[None]):
    """One log pane."""

    def __init__(self, report: Path, rate: int, seconds: float, units: list[str]) -> None:
        super().__init__()
        self._report, self._rate, self._seconds = report, rate, seconds
        self._sources = tuple(Source(f"host-{place}", unit) for place, unit in enumerate(units))
        self._logs = UnitLogs()
        self._newest_after = 0.0

    def compose(self) -> ComposeResult:
        """The pane."""
        pane = LogPane()
        pane.styles.border_top = ("solid", "white")
        yield pane

    def on_mount(self) -> None:
        """Begin as the console does."""
        garbage.watch()
        take_turns_quickly()
        self.query_one(LogPane).focus_lines()
        self.run_worker(self._flood(), group="flood")

    async def _flood(self) -> None:
        units = [source.unit for source in self._sources]
        self._logs.cover(units)
        pane = self.query_one(LogPane)
        pane.show("host-0", units[0], (), self._sources if len(units) > 1 else ())
        argv = (sys.executable, "-m", "benchmarks.log_lines", str(self._rate), str(self._seconds), *units)
        cpu = time.process_time()
        async with asyncio.TaskGroup() as group:
            readers = [group.create_task(one) for one in self._readers(pane)]
            await self._read(argv)
            await self._until_newest_is_seen(pane)
            for reader in readers:
                reader.cancel()
        self._write(pane, time.process_time() - cpu)

    def _readers(self, pane: LogPane) -> list[asyncio.Future[None]]:
        if len(self._sources) == 1:
            return [self._show(pane, self._sources[0])]  # type: ignore[list-item]  # a coroutine
        arrivals: asyncio.Queue[Arrival] = asyncio.Queue(64)
        reading = [self._collect(source, arrivals) for source in self._sources]
        return [*reading, _merge_into(pane, self._sources, arrivals)]  # type: ignore[list-item]

    async def _read(self, argv: tuple[str, ...]) -> None:
        reading = Reading(ResumePoint(), {source.unit for source in self._sources}, "system", quota=Quota())
        child = await asyncio.create_subprocess_exec(*argv, stdout=asyncio.subprocess.PIPE)
        if child.stdout is None:
            return
        while chunk := await child.stdout.read(CHUNK_BYTES):
            for piece in pieces(chunk):
                self._logs.publish(reading.feed(piece))
                await asyncio.sleep(0)  # as the follower of a host does
        await child.wait()

    async def _show(self, pane: LogPane, source: Source) -> None:
        with self._logs.open(source.unit, 200) as (_, feed):
            while True:
                pane.append(await _next(feed))

    async def _collect(self, source: Source, arrivals: asyncio.Queue[Arrival]) -> None:
        with self._logs.open(source.unit, 200) as (_, feed):
            await arrivals.put((source, ()))
            while True:
                await arrivals.put((source, await _next(feed)))

    async def _until_newest_is_seen(self, pane: LogPane) -> None:
        ended = time.monotonic()
        last = f"line {int(self._rate * self._seconds)}"
        while time.monotonic() - ended < QUIET_SECONDS:
            pane.action_now()
            if any(isinstance(one, JournalEntry) and one.message.endswith(last) for one in pane.items_shown()[-8:]):
                break
            await asyncio.sleep(0.01)
        self._newest_after = time.monotonic() - ended

    def _write(self, pane: LogPane, cpu_seconds: float) -> None:
        report = {
            "cpu_percent": 100 * cpu_seconds / self._seconds,
            "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
            "newest_seconds": self._newest_after,
            "kept_lines": len(pane.items_shown()),
            "dropped_at_the_source": self._logs.dropped_count,
        }
        self._report.write_text(json.dumps(report))
        self.exit()


async def _next(feed: JournalFeed) -> tuple[JournalItem, ...]:
    items = await feed.take()
    await asyncio.sleep(PERIOD_SECONDS)
    return items


if __name__ == "__main__":
    LogApp(Path(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), sys.argv[4:]).run()
