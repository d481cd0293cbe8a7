"""Work on several hosts: the first alone, then the others together; after a failure what has not begun is skipped."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence

HOSTS_AT_ONCE = 8
Job = TypeVar("Job")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Waves(Generic[Job, Result]):
    """One run over several hosts; the jobs of one host go one after the other."""

    host_of: Callable[[Job], str]
    one: Callable[[Job], Awaitable[Result]]
    """Carries out a job. What it raises ends the run."""
    skipped: Callable[[Job], Result]
    is_ok: Callable[[Result], bool]
    stop: asyncio.Event
    """Set from outside, or by the first result that is not ok."""

    async def run(self, jobs: Sequence[Job]) -> AsyncGenerator[Result, None]:
        """Each result as it comes. Closing the iterator cancels what runs."""
        results: asyncio.Queue[Result | None] = asyncio.Queue()
        runner = asyncio.create_task(self._all(jobs, results))
        try:
            while (done := await results.get()) is not None:
                yield done
            await runner
        finally:
            runner.cancel()
            await asyncio.gather(runner, return_exceptions=True)

    async def _all(self, jobs: Sequence[Job], results: asyncio.Queue[Result | None]) -> None:
        """`None` in `results` is the end."""
        room = asyncio.Semaphore(HOSTS_AT_ONCE)
        try:
            by_host: dict[str, list[Job]] = {}
            for job in jobs:
                by_host.setdefault(self.host_of(job), []).append(job)
            first, *others = by_host.values() or [[]]
            await self._host(first, results, room)
            async with asyncio.TaskGroup() as group:
                for host in others:
                    group.create_task(self._host(host, results, room))
        finally:
            results.put_nowait(None)

    async def _host(self, jobs: Sequence[Job], results: asyncio.Queue[Result | None], room: asyncio.Semaphore) -> None:
        async with room:
            for job in jobs:
                result = self.skipped(job) if self.stop.is_set() else await self.one(job)
                if not self.is_ok(result):
                    self.stop.set()
                results.put_nowait(result)
