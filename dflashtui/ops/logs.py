"""The journal of one unit over several hosts, as `dflashtui logs` prints it."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field
from time import monotonic
from typing import TYPE_CHECKING

from dflashtui.exit_code import ExitCode, worst
from dflashtui.ops.logs_format import FORMS, document
from dflashtui.ops.logs_merge import WINDOW_SECONDS, LogMerge
from dflashtui.ops.logs_tail import Batch, HostTail

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from dflashtui.ops.logs_merge import HostItem
    from dflashtui.ops.logs_tail import LogOptions, LogSource

BATCHES_AHEAD = 64
"""How far the readers may run ahead of the output."""
GRACE_SECONDS = 5.0
"""With `follow`: how long what the others had waits for a host that has not answered yet."""


async def logs(
    sources: Sequence[LogSource],
    unit: str,
    options: LogOptions,
    write: Callable[[str], None],
    warn: Callable[[str], None],
) -> ExitCode:
    """Print what each host has in one order of time, then with `follow` what comes, until cancelled.

    `write` gets whole lines for stdout, `warn` one line without its end for stderr. What `write` raises
    (`BrokenPipeError`) ends everything and is raised. A host that cannot be read makes `UNKNOWN`.
    """
    batches: asyncio.Queue[Batch] = asyncio.Queue(BATCHES_AHEAD)
    tails = [HostTail(source, unit, options, batches, warn) for source in sources]
    output = _Output(frozenset(source.host for source in sources), options, write)
    try:
        async with asyncio.TaskGroup() as group:
            for tail in tails:
                group.create_task(tail.run())
            await output.run(batches)
    except BaseExceptionGroup as failures:
        raise _single(failures) from None
    code = worst(*(tail.code for tail in tails))
    if not output.written_count and code is ExitCode.OK:
        warn(f"no entries for {unit} on {', '.join(source.host for source in sources)}")
    return code


def _single(failures: BaseExceptionGroup[BaseException]) -> BaseException:
    return failures.exceptions[0] if len(failures.exceptions) == 1 else failures


@dataclass(slots=True)
class _Output:
    hosts: frozenset[str]
    options: LogOptions
    write: Callable[[str], None]
    written_count: int = 0
    _merge: LogMerge = field(default_factory=LogMerge)
    _unsettled: set[str] = field(default_factory=set)
    _running: set[str] = field(default_factory=set)

    async def run(self, batches: asyncio.Queue[Batch]) -> None:
        """Until every host has ended."""
        self._unsettled, self._running = set(self.hosts), set(self.hosts)
        began = monotonic()
        while self._running:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._patience()):
                    self._take(await batches.get())
            self._print_what_is_due(waited_seconds=monotonic() - began)
        self._print(self._merge.rest())

    def _patience(self) -> float | None:
        """Something is held back: look again soon."""
        return WINDOW_SECONDS / 3 if self._merge else None

    def _take(self, batch: Batch) -> None:
        self._merge.put(batch.host, batch.items, monotonic())
        was_settled = not self._unsettled
        if batch.settles:
            self._unsettled.discard(batch.host)
        if batch.ends:
            self._running.discard(batch.host)
        if not self._unsettled and not was_settled:
            self._print(self._merge.rest())

    def _print_what_is_due(self, *, waited_seconds: float) -> None:
        if self._unsettled and (not self.options.follow or waited_seconds < GRACE_SECONDS):
            return
        self._print(self._merge.due(monotonic()))

    def _print(self, items: Sequence[HostItem]) -> None:
        if not items:
            return
        self.written_count += len(items)
        if self.options.json:
            lines = [document(host, item) for host, item in items]
        else:
            shown = FORMS[self.options.output]
            options = self.options
            lines = [shown(host, item, color=options.color, has_unit=options.has_units) for host, item in items]
        self.write("".join(f"{line}\n" for line in lines))
