"""The shipped sampler's lines, parsed, and the talk with it."""

from __future__ import annotations

import json
from contextlib import aclosing, asynccontextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import ValidationError

from dflashtui.errors import DecodeError, SourceUnavailable
from dflashtui.model.gpu import Gpu
from dflashtui.model.sample import CgroupUse, GpuProblem, HostSample
from dflashtui.sampler import pack
from dflashtui.source.driver_words import clocks_event_reasons, hanging, problem
from dflashtui.text import decoded, printable
from dflashtui.transport.base import lines

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping

    from dflashtui.transport.base import Stream, Transport

SOURCE = "sampler"
FORMAT = 1
HANGS_AFTER_SECONDS = 5.0
"""The first start of a driver without persistence takes seconds on each GPU."""


class CannotRun(Exception):
    """The host cannot run the sampler; the text says why."""


def parse_hello(line: bytes) -> str:
    """The boot id of the sampler's first line. Raises `DecodeError`."""
    hello = _json(line)
    if hello.get("sampler") != FORMAT or not isinstance(hello.get("boot_id"), str):
        raise DecodeError(SOURCE, line)
    return str(hello["boot_id"])


def parse_tick(line: bytes, *, at: datetime, boot_id: str | None = None) -> HostSample:
    """One sample. `at`: when the line arrived, by our clock. Raises `DecodeError`."""
    tick = _json(line)
    try:
        kind, words = _problem(tick)
        return HostSample(
            at=at,
            boot_id=boot_id,
            host_time=datetime.fromtimestamp(tick["time"], UTC),
            monotonic_seconds=tick.get("monotonic"),
            uptime_seconds=tick.get("uptime"),
            load_average=tick.get("load"),
            **_pair(tick, "memory", "memory_available_bytes", "memory_total_bytes"),
            **_pair(tick, "shm", "shm_used_bytes", "shm_total_bytes"),
            cgroups={unit: _use(*numbers) for unit, numbers in tick.get("units", {}).items()},
            gpus=_gpus(tick.get("gpus")),
            gpu_problem=words,
            gpu_problem_kind=kind,
            driver_version=tick.get("driver_version"),
            cuda_driver_version=tick.get("cuda_driver_version"),
        )
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, OSError, ValidationError) as wrong:
        raise DecodeError(SOURCE, line) from wrong


def _json(line: bytes) -> dict[str, Any]:
    try:
        found = json.loads(line, parse_constant=_refuse)
    except (ValueError, RecursionError) as wrong:
        raise DecodeError(SOURCE, line) from wrong
    if not isinstance(found, dict):
        raise DecodeError(SOURCE, line)
    return found


def _refuse(constant: str) -> float:
    raise ValueError(f"{constant} is no measurement")


def _gpus(found: list[dict[str, Any]] | None) -> tuple[Gpu, ...] | None:
    if found is None:
        return None
    return tuple(
        Gpu.model_validate({**gpu, "clocks_event_reasons": clocks_event_reasons(gpu.get("clocks_event_reasons", 0))})
        for gpu in found
    )


def _use(memory: int | None, cpu: int | None, tasks: int | None) -> CgroupUse:
    return CgroupUse(memory_bytes=memory, cpu_usage_nsec=cpu, tasks=tasks)


def _pair(tick: dict[str, Any], key: str, first: str, second: str) -> dict[str, int]:
    return dict(zip((first, second), tick.get(key, ()), strict=False))


def _problem(tick: dict[str, Any]) -> tuple[GpuProblem | None, str | None]:
    if "nvml" in tick:
        return problem(tick["nvml"]["code"], tick["nvml"]["words"])
    if tick.get("pending_seconds", 0) >= HANGS_AFTER_SECONDS:
        return hanging(tick["pending_seconds"])
    return None, None


class SamplerFeed:
    """A sampler that runs on a host."""

    via: ClassVar[str] = "sampler"
    why: ClassVar[str | None] = None

    def __init__(
        self, host: str, stream: Stream, ticks: AsyncIterator[bytes], boot_id: str, clock: Callable[[], datetime]
    ) -> None:
        """`ticks`: the lines after the first."""
        self._host = host
        self._stream = stream
        self._ticks = ticks
        self._boot_id = boot_id
        self._clock = clock
        self._samples = self._endless()

    def __aiter__(self) -> AsyncIterator[HostSample]:
        """See `Samples`."""
        return self._samples

    async def aclose(self) -> None:
        """Stop reading."""
        await self._samples.aclose()

    async def _endless(self) -> AsyncGenerator[HostSample, None]:
        async for line in self._ticks:
            yield parse_tick(line, at=self._clock(), boot_id=self._boot_id)
        raise SourceUnavailable(self._host, "gpus", f"the sampler ended: {_last_words(self._stream)}")

    async def set_interval(self, seconds: float) -> None:
        """See `Samples`."""
        await self._order(interval_seconds=seconds)

    async def watch_units(self, control_groups: Mapping[str, str]) -> None:
        """See `Samples`."""
        await self._order(units=dict(control_groups))

    async def sample_now(self) -> None:
        """See `Samples`."""
        await self._order(sample=True)

    async def _order(self, **order: Any) -> None:  # noqa: ANN401 - the sampler's orders
        await self._stream.write(json.dumps(order).encode() + b"\n")


@asynccontextmanager
async def sampler(
    transport: Transport, interval_seconds: float, control_groups: Mapping[str, str], clock: Callable[[], datetime]
) -> AsyncIterator[SamplerFeed]:
    """Ship and start it. Raises `CannotRun` if the host has no python3 for it."""
    async with transport.stream(pack.ARGV) as stream, aclosing(lines(stream)) as ticks:
        await stream.write(pack.payload(interval_seconds=interval_seconds, units=control_groups))
        hello = await anext(ticks, None)
        if hello is None:
            raise CannotRun(_last_words(stream))
        async with aclosing(SamplerFeed(transport.host, stream, ticks, parse_hello(hello), clock)) as feed:
            yield feed


def _last_words(stream: Stream) -> str:
    """The last line of stderr, else the exit status."""
    said = printable(decoded(stream.stderr).strip().rpartition("\n")[2], limit=300)
    return said or f"exit {stream.exit_status}"
