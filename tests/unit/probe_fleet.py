"""A fleet of one host and one unit that does what a test says, and a clock that the test moves."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import TYPE_CHECKING, Any

from dflashtui.fleet.base import Change
from dflashtui.model.action import ActionResult, UnitAction, Verb
from dflashtui.model.host import HostSnapshot, Link, LinkState
from dflashtui.model.journal import JournalEntry, JournalItem
from dflashtui.model.unit import ActiveState, LoadState, Readiness, UnitStatus
from dflashtui.ops.evidence import Evidence
from dflashtui.ops.probe import Probe
from dflashtui.ops.probe_wanted import Timers, Wanted

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

    from dflashtui.errors import SourceUnavailable, Unreachable
    from dflashtui.model.probe import ProbeResult, ProbeUpdate

HOST, UNIT = "gpu-a", "sglang.service"
BORN = datetime(2026, 12, 1, 3, 0, tzinfo=UTC)
OLD, RUN, NEXT = "0" * 32, "a" * 32, "b" * 32
MARKS = {
    "Stopping": "de5b426a63be47a7b6ac3eaac82e2f6f",
    "Started": "39f53479d3a045ac8e11786248231fbf",
    "Scheduled": "5eb03494b6584870a536b337290809b3",
    "Main process": "98e322203f7a4ed290d09fe03c09fe15",
    "skipped": "0e4284a0caca4bfc81c0bb6786972673",
}
TRACEBACK = (
    "Traceback (most recent call last):",
    '  File "/opt/app/server.py", line 7, in <module>',
    "    import soundfile",
    "ModuleNotFoundError: No module named 'soundfile'",
)
INACTIVE = UnitStatus(
    name=UNIT, load_state=LoadState.LOADED, active_state=ActiveState.INACTIVE, sub_state="dead", invocation_id=OLD
)


class Clock:
    """Time that passes only when a test says so."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._waiting: list[tuple[float, asyncio.Future[None]]] = []

    @property
    def timers(self) -> Timers:
        return Timers(lambda: self.seconds, self.sleep, lambda: BORN + timedelta(seconds=self.seconds))

    async def sleep(self, seconds: float) -> None:
        woken: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((self.seconds + seconds, woken))
        await woken

    async def advance(self, seconds: float) -> None:
        """Wake all that are due, in order."""
        until = self.seconds + seconds
        await settle()
        while due := sorted((one for one in self._waiting if one[0] <= until), key=lambda one: one[0]):
            self.seconds = max(self.seconds, due[0][0])
            self._waiting.remove(due[0])
            if not due[0][1].done():
                due[0][1].set_result(None)
            await settle()
        self.seconds = until


async def settle() -> None:
    """Let every task run until it waits for somebody else."""
    for _ in range(20):
        await asyncio.sleep(0)


class ScriptedFleet:
    """What the probe asks of a fleet."""

    is_demo = False
    names = (HOST,)

    def __init__(self, before: UnitStatus | None = INACTIVE) -> None:
        units = (before,) if before else ()
        self.now = HostSnapshot(name=HOST, link=Link(state=LinkState.UP), boot_id="boot-1", units=units)
        self.journal: list[JournalEntry] = []
        self.late: list[JournalEntry] = []
        """Written, but not yet taken in by journald."""
        self.may_sync = True
        self.journal_trouble: SourceUnavailable | Unreachable | None = None
        self.invocation_id = OLD
        """What the manager says when it is asked itself."""
        self.hurried = 0
        self.asked_now = 0
        self._changes: asyncio.Queue[HostSnapshot] = asyncio.Queue()
        self._lines: asyncio.Queue[tuple[JournalItem, ...]] = asyncio.Queue()
        self._numbers = count(1)

    # -- what a test does ---------------------------------------------------------------------------------------------

    def is_now(self, **changes: Any) -> None:  # noqa: ANN401 - fields of UnitStatus
        """The unit changes."""
        unit = (self.now.units or (INACTIVE,))[0].model_copy(update=changes)
        self.post(units=(unit,))

    def post(self, **changes: Any) -> None:  # noqa: ANN401 - fields of HostSnapshot
        self.now = self.now.model_copy(update=changes)
        self._changes.put_nowait(self.now)

    def link(self, state: LinkState, error: str | None = None) -> None:
        self.post(link=Link(state=state, error=error))

    def runs(self, run: str = RUN, **changes: Any) -> None:  # noqa: ANN401
        """A run of the unit has begun."""
        self.invocation_id = run
        active = {"active_state": ActiveState.ACTIVE, "sub_state": "running", "readiness": Readiness.LOADING}
        began = {"since": BORN, "started_at": BORN, "exec_main_code": 0, "exec_main_status": None, "main_pid": 10}
        self.is_now(**{"invocation_id": run, "type": "simple", **active, **began, **changes})

    def dies(self, code: int = 1, status: int = 1, result: str = "exit-code", **changes: Any) -> None:  # noqa: ANN401
        """The run has ended."""
        state = ActiveState.INACTIVE if result == "success" else ActiveState.FAILED
        ended = {"sub_state": state.value, "main_pid": None, "since": BORN + timedelta(seconds=1)}
        facts = {"exec_main_code": code, "exec_main_status": status, "result": result}
        self.is_now(**{"active_state": state, "readiness": Readiness.FAILED, **ended, **facts, **changes})

    def says(self, *lines: str, run: str = RUN, pid: int = 10, live: bool = True, late: bool = False) -> None:
        """The service writes; pid 1 is the manager."""
        entries = [self._entry(line, run, pid) for line in lines]
        (self.late if late else self.journal).extend(entries)
        if live and not late:
            self._lines.put_nowait(tuple(entries))

    def _entry(self, text: str, run: str, pid: int) -> JournalEntry:
        number = next(self._numbers)
        return JournalEntry(
            cursor=f"s=1;i={number:x};b=2;m=3",
            at=BORN + timedelta(milliseconds=10 * number),
            message=text,
            unit=UNIT,
            pid=pid,
            from_manager=pid == 1,
            invocation_id=run,
            message_id=next((mark for word, mark in MARKS.items() if pid == 1 and word in text), None),
        )

    # -- what the probe does ------------------------------------------------------------------------------------------

    def snapshot(self, host: str) -> HostSnapshot:
        return self.now

    @asynccontextmanager
    async def subscribe(self) -> AsyncIterator[AsyncIterator[Change]]:
        self._changes.put_nowait(self.now)
        yield self._stream()

    async def _stream(self) -> AsyncIterator[Change]:
        while True:
            yield Change(HOST, await self._changes.get())

    @asynccontextmanager
    async def follow(
        self, host: str, unit: str, *, lines: int = 200
    ) -> AsyncIterator[AsyncIterator[tuple[JournalItem, ...]]]:
        yield self._batches()

    async def _batches(self) -> AsyncIterator[tuple[JournalItem, ...]]:
        while True:
            yield await self._lines.get()

    async def history(
        self, host: str, unit: str, *, lines: int, before: str | None = None, invocation_id: str | None = None
    ) -> tuple[JournalItem, ...]:
        if self.journal_trouble:
            raise self.journal_trouble
        return tuple(one for one in self.journal if invocation_id in {None, one.invocation_id})[-lines:]

    async def sync_journal(self, host: str) -> bool:
        if self.may_sync:
            self.take_in_late_lines()
        return self.may_sync

    def take_in_late_lines(self) -> None:
        self.journal += self.late
        self.late.clear()

    @contextmanager
    def hurry(self, host: str, unit: str) -> Iterator[Callable[[], None]]:
        self.hurried += 1
        try:
            yield self._asked
        finally:
            self.hurried -= 1

    def _asked(self) -> None:
        self.asked_now += 1

    async def properties(self, host: str, unit: str) -> dict[str, str]:
        return {"InvocationID": self.invocation_id}


class Watched:
    """A probe under way."""

    def __init__(
        self, fleet: ScriptedFleet, clock: Clock, *, starts: bool, wanted: dict[str, Any], store: Evidence
    ) -> None:
        self.fleet, self.clock = fleet, clock
        self.updates: list[ProbeUpdate] = []
        loop = asyncio.get_running_loop()
        self.asked: asyncio.Future[ActionResult] | None = loop.create_future() if starts else None
        asked_for = Wanted(**{"host": HOST, "unit": UNIT, "engine": "sglang", **wanted})
        tell = self.updates.append
        probe = Probe(fleet, asked_for, tell, store, will_start=starts, timers=clock.timers)  # type: ignore[arg-type] # as far as it is asked
        self.task = loop.create_task(probe.run(self.asked))

    def job(self, result: str = "done", *, ok: bool | None = True, message: str = "done") -> None:
        """What came of asking for the start."""
        action = UnitAction(verb=Verb.START, host=HOST, unit=UNIT)
        assert self.asked is not None
        self.asked.set_result(
            ActionResult(action=action, ok=ok, result=result, message=message, started_at=BORN, duration_seconds=0.1)
        )

    async def result(self) -> ProbeResult:
        return await self.task

    @property
    def words(self) -> list[str]:
        return [update.words for update in self.updates]

    @property
    def suspicions(self) -> list[str | None]:
        """Each change of the suspected cause, in words; `None`: withdrawn."""
        found: list[str | None] = []
        for update in self.updates:
            words = update.suspected.exception if update.suspected else None
            if update.result is None and (not found or found[-1] != words):
                found.append(words)
        return found


@asynccontextmanager
async def watching(
    fleet: ScriptedFleet,
    clock: Clock | None = None,
    *,
    starts: bool = True,
    store: Evidence | None = None,
    **wanted: Any,  # noqa: ANN401 - fields of Wanted
) -> AsyncIterator[Watched]:
    """A probe that has taken its place; nothing of it is left afterwards."""
    watched = Watched(fleet, clock or Clock(), starts=starts, wanted=wanted, store=store or Evidence(None))
    await settle()
    try:
        yield watched
    finally:
        watched.task.cancel()
        await asyncio.gather(watched.task, return_exceptions=True)
    assert fleet.hurried == 0
