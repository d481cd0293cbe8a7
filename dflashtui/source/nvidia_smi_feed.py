"""GPUs of a host without a usable python3: one nvidia-smi that prints a round each interval."""

from __future__ import annotations

import asyncio
from contextlib import aclosing, asynccontextmanager
from typing import TYPE_CHECKING, ClassVar

from dflashtui.errors import SourceUnavailable
from dflashtui.model.sample import HostSample
from dflashtui.source import nvidia_smi as smi
from dflashtui.source.proc_files import with_holders
from dflashtui.transport.base import lines

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
    from datetime import datetime

    from dflashtui.model.gpu import Gpu, GpuProcess
    from dflashtui.source.nvidia_smi import Row
    from dflashtui.transport.base import Completed, Transport

PROCESSES_EVERY_SECONDS = 10.0
"""Each look at the processes starts programs on the host."""
AGAIN_SECONDS = 60.0
NOT_FOUND = frozenset({126, 127})


class NotInstalled(Exception):
    """There is no nvidia-smi on the host's PATH."""


class NvidiaSmiFeed:
    """Rounds of nvidia-smi. It knows nothing of control groups, `/dev/shm` or clocks."""

    via: ClassVar[str] = "nvidia-smi"

    def __init__(
        self, transport: Transport, interval_seconds: float, clock: Callable[[], datetime], why: str | None = None
    ) -> None:
        """`why`: see `Samples`."""
        self.why = why
        self._transport = transport
        self._interval_seconds = interval_seconds
        self._clock = clock
        self._processes: dict[str, tuple[GpuProcess, ...]] = {}
        self._processes_at: datetime | None = None
        self._samples = self._endless()

    def __aiter__(self) -> AsyncIterator[HostSample]:
        """See `Samples`."""
        return self._samples

    async def aclose(self) -> None:
        """End what runs on the host."""
        await self._samples.aclose()

    async def _endless(self) -> AsyncGenerator[HostSample, None]:
        """A new interval begins with a new nvidia-smi, after the round that is under way."""
        while True:
            probed = await self._probe()
            if isinstance(probed, HostSample):
                yield probed
                await asyncio.sleep(AGAIN_SECONDS)
                continue
            async with aclosing(self._rounds(*probed)) as rounds:
                async for rows in rounds:
                    yield await self._sample(rows)

    async def set_interval(self, seconds: float) -> None:
        """See `Samples`."""
        self._interval_seconds = seconds

    async def watch_units(self, control_groups: Mapping[str, str]) -> None:
        """Not possible here."""

    async def sample_now(self) -> None:
        """Not possible here."""

    async def _probe(self) -> tuple[tuple[str, ...], int] | HostSample:
        """The fields that this nvidia-smi knows and the number of GPUs, or a sample that says what is wrong."""
        fields = tuple(smi.FIELDS)
        while True:
            done = await self._transport.run(smi.gpu_query(fields))
            if done.exit_status == 0:
                return fields, len(done.stdout.splitlines())
            refused = smi.refused_field(done.stdout)
            if refused not in fields:
                return self._problem(done)
            fields = tuple(field for field in fields if field != refused)

    def _problem(self, done: Completed) -> HostSample:
        if done.exit_status in NOT_FOUND:
            raise SourceUnavailable(self._transport.host, "gpus", "nvidia-smi is no longer there")
        kind, words = smi.failure(done.stdout + b" " + done.stderr)
        return HostSample(at=self._clock(), gpu_problem=words, gpu_problem_kind=kind)

    async def _rounds(self, fields: tuple[str, ...], count: int) -> AsyncGenerator[tuple[Row, ...], None]:
        """All GPUs, again and again, until the interval is changed, or nvidia-smi ends and an interval has passed."""
        used = self._interval_seconds
        argv = (*smi.gpu_query(fields), "-lms", str(round(used * 1000)))
        async with self._transport.stream(argv) as stream, aclosing(lines(stream)) as printed:
            rows: list[Row] = []
            async for line in printed:
                rows.append(smi.parse_row(line, fields))
                if len(rows) < count:
                    continue
                yield tuple(rows)
                rows.clear()
                if self._interval_seconds != used:
                    return
        await asyncio.sleep(used)

    async def _sample(self, rows: tuple[Row, ...]) -> HostSample:
        await self._read_processes()
        return HostSample(
            at=self._clock(),
            gpus=tuple(self._with_processes(row.gpu) for row in rows),
            driver_version=rows[0].driver_version if rows else None,
        )

    def _with_processes(self, gpu: Gpu) -> Gpu:
        return gpu if gpu.lost else gpu.model_copy(update={"processes": self._processes.get(gpu.uuid or "", ())})

    async def _read_processes(self) -> None:
        now = self._clock()
        if self._processes_at and (now - self._processes_at).total_seconds() < PROCESSES_EVERY_SECONDS:
            return
        self._processes_at = now
        listed = smi.parse_compute_apps((await self._transport.run(smi.COMPUTE_APPS)).check().stdout)
        self._processes = await with_holders(self._transport, listed)


@asynccontextmanager
async def nvidia_smi(
    transport: Transport, interval_seconds: float, clock: Callable[[], datetime], why: str | None = None
) -> AsyncIterator[NvidiaSmiFeed]:
    """Find nvidia-smi. Raises `NotInstalled`."""
    found = await transport.run(("nvidia-smi", "-L"))
    if found.exit_status in NOT_FOUND:
        raise NotInstalled
    async with aclosing(NvidiaSmiFeed(transport, interval_seconds, clock, why)) as feed:
        yield feed
