"""One host's share of `dflashtui logs`: what it has, then what comes, across connections."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from time import monotonic, time
from typing import TYPE_CHECKING

from dflashtui.errors import CommandTimeout, DflashError
from dflashtui.exit_code import ExitCode
from dflashtui.fleet.backoff import Backoff
from dflashtui.model.journal import JournalEntry
from dflashtui.ops.logs_merge import LogMerge
from dflashtui.source.journal import JournalReader
from dflashtui.source.journal_access import journal_access
from dflashtui.source.journal_adopt import has_own_lines
from dflashtui.source.journal_argv import KERNEL, Narrowing
from dflashtui.source.journal_cursor import ResumePoint
from dflashtui.source.journal_pieces import joined
from dflashtui.source.kernel import matters
from dflashtui.text import decoded, printable

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractAsyncContextManager

    from dflashtui.model.journal import JournalItem
    from dflashtui.source.journal_argv import ManagerKind
    from dflashtui.transport.base import Transport


SKEW_SECONDS = 1.0


def skew_seconds(answer: str, sent: float, received: float) -> float | None:
    """How far a clock that said this (`date +%s.%N`) is ahead of ours; `None`: it said nothing of the kind."""
    try:
        return float(answer.strip()) - (sent + received) / 2
    except ValueError:
        return None


@dataclass(frozen=True, slots=True)
class LogSource:
    """One host, and how to open a way to it."""

    host: str
    connect: Callable[[], AbstractAsyncContextManager[Transport]]
    manager: ManagerKind = "system"
    become: str = "none"
    units: tuple[str, ...] = ()
    """In place of the one unit that is asked for."""


@dataclass(frozen=True, slots=True)
class LogOptions:
    """What was asked for."""

    follow: bool = False
    lines: int | None = 100
    """Of each host; `None`: all there are, up to 64 MiB."""
    since: str | None = None
    grep: str | None = None
    priority: str | None = None
    json: bool = False
    output: str = "short"
    """`short`, `full` or `cat`."""
    has_units: bool = False
    """Say the unit, for there are several."""
    kernel: bool = False
    """Mix in those lines of the kernel that explain a service's trouble."""
    color: bool = False
    tells_skew: bool = False
    """Say whose clock is apart, for there are several hosts."""
    timeout_seconds: float | None = None
    """How long each host may take to give what it has; following has no end."""

    @property
    def narrowing(self) -> Narrowing:
        """In journalctl's words."""
        return Narrowing(self.since, self.grep, self.priority)


@dataclass(frozen=True, slots=True)
class Batch:
    """Items of one host, in order."""

    host: str
    items: tuple[JournalItem, ...] = ()
    settles: bool = False
    """What the host had is now given, or will not come soon."""
    ends: bool = False
    """Nothing more will come."""


@dataclass(slots=True)
class HostTail:
    """Reads one host and posts what it finds; the queue's bound slows it down, and journalctl with it."""

    source: LogSource
    unit: str
    options: LogOptions
    batches: asyncio.Queue[Batch]
    warn: Callable[[str], None]
    code: ExitCode = ExitCode.OK
    _resume: ResumePoint = field(default_factory=ResumePoint)
    _has_looked_back: bool = False

    async def run(self) -> None:
        """Until all is read, or with `follow` until cancelled. Trouble is told, and kept as `code`."""
        backoff = Backoff()
        began = monotonic()
        while await self._try_once():
            await self._post(settles=True)
            await asyncio.sleep(backoff.next_seconds(lived_seconds=monotonic() - began))
            began = monotonic()
        await self._post(settles=True, ends=True)

    async def _try_once(self) -> bool:
        """Whether to try again."""
        try:
            await self._serve()
        except DflashError as trouble:
            self.code = ExitCode.UNKNOWN
            self.warn(printable(str(trouble)))
            return self.options.follow and trouble.transient
        return self.options.follow

    async def _serve(self) -> None:
        scope = asyncio.timeout(self.options.timeout_seconds)
        try:
            async with scope, self.source.connect() as transport:
                reader = await self._reader(transport)
                await self._tell_skew(transport)
                if not self._has_looked_back:
                    await self._look_back(reader)
                scope.reschedule(None)
                self.code = ExitCode.OK
                if self.options.follow:
                    await self._follow(reader)
        except TimeoutError:
            if not scope.expired():
                raise
            raise CommandTimeout(self.source.host, f"no answer within {self.options.timeout_seconds:g} s") from None

    async def _reader(self, transport: Transport) -> JournalReader:
        access = await journal_access(transport, manager=self.source.manager, become=self.source.become)
        return JournalReader(transport, replace(access, kernel=access.kernel and self.options.kernel))

    async def _tell_skew(self, transport: Transport) -> None:
        """Say once if the host's clock is apart from this machine's; the way there and back is taken as equal."""
        if self._has_looked_back or not self.options.tells_skew:
            return
        sent = time()
        done = await transport.run(("date", "+%s.%N"), output_limit_bytes=2**10)
        skew = skew_seconds(decoded(done.stdout), sent, time())
        if skew is not None and abs(skew) >= SKEW_SECONDS:
            words = "ahead of" if skew > 0 else "behind"
            self.warn(
                f"{printable(self.source.host)}: its clock is {abs(skew):.1f} s {words} this machine's: "
                "its lines stand in a wrong place among the others'"
            )

    async def _look_back(self, reader: JournalReader) -> None:
        if self.options.follow:
            await reader.anchor(self._resume)
        items = await self._read_back(reader)
        last = next((item for item in reversed(items) if item.cursor), None)
        if last and last.cursor:
            self._resume.move(last.cursor, getattr(last, "boot_id", None), monotonic())
        self._has_looked_back = True
        await self._post(items, settles=True)

    async def _read_back(self, reader: JournalReader) -> tuple[JournalItem, ...]:
        """What each unit has, as one journal in order of time."""
        options, merge = self.options, LogMerge()
        for unit in self._units:
            items = await reader.history(unit, lines=options.lines, narrowing=options.narrowing)
            await self._tell_whereabouts(reader, unit, items)
            merge.put(unit, filter(self._wants, items), 0.0)
        return tuple(item for _, item in merge.rest())

    async def _tell_whereabouts(self, reader: JournalReader, unit: str, items: tuple[JournalItem, ...]) -> None:
        """Say why a unit has no line of its own here, where the host knows it."""
        if unit != KERNEL and not has_own_lines(items) and (why := await reader.whereabouts(unit)):
            self.warn(f"{printable(self.source.host)}: {printable(unit)}: {why}")

    @property
    def _units(self) -> tuple[str, ...]:
        units = self.source.units or (self.unit,)
        return (*units, KERNEL) if self.options.kernel else units

    def _wants(self, item: JournalItem) -> bool:
        """Of the kernel's lines only those that matter."""
        return not isinstance(item, JournalEntry) or item.transport != KERNEL or matters(item)

    async def _follow(self, reader: JournalReader) -> None:
        units = (unit for unit in self._units if unit != KERNEL)
        batches = reader.follow(units, self._resume, narrowing=self.options.narrowing)
        async with aclosing(batches):
            async for items in batches:
                await self._post(tuple(filter(self._wants, items)))

    async def _post(self, items: tuple[JournalItem, ...] = (), *, settles: bool = False, ends: bool = False) -> None:
        await self.batches.put(Batch(self.source.host, joined(items), settles, ends))
