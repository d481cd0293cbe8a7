"""Samples of one host's GPUs and control groups, folded into its state."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from dflashtui.model.sample import GpuProblem, HostSample, cpu_percent
from dflashtui.source.gpus import samples

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dflashtui.fleet.host_state import HostState, ResourceUse
    from dflashtui.source.gpus import Samples
    from dflashtui.transport.base import Transport

IN_VIEW_SECONDS = 2.0
OUT_OF_VIEW_SECONDS = 5.0


class GpuStream:
    """Owns what is wanted of the sampler across reconnects: its pace and the units to report on."""

    def __init__(self, state: HostState) -> None:
        self._state = state
        self._interval_seconds = OUT_OF_VIEW_SECONDS
        self._control_groups: dict[str, str] = {}
        self._orders = asyncio.Event()
        self._hurry = False
        self._before: HostSample | None = None

    def pace(self, interval_seconds: float) -> None:
        """How often to sample from now on."""
        if interval_seconds != self._interval_seconds:
            self._interval_seconds = interval_seconds
            self._orders.set()

    def hurry(self) -> None:
        """Sample at once."""
        self._hurry = True
        self._orders.set()

    def watch_units(self, control_groups: Mapping[str, str]) -> None:
        """Report on the control groups of these units."""
        if control_groups != self._control_groups:
            self._control_groups = dict(control_groups)
            self._orders.set()

    async def run(self, transport: Transport) -> None:
        """Sample until the link or the source is lost."""
        async with (
            samples(transport, interval_seconds=self._interval_seconds, control_groups=self._control_groups) as feed,
            asyncio.TaskGroup() as group,
        ):
            self._state.source("gpus", via=feed.via)
            group.create_task(self._give_orders(feed))
            async for sample in feed:
                self._fold(sample, feed.via)

    async def _give_orders(self, feed: Samples) -> None:
        while True:
            await self._orders.wait()
            self._orders.clear()
            await feed.set_interval(self._interval_seconds)
            await feed.watch_units(self._control_groups)
            if self._hurry:
                self._hurry = False
                await feed.sample_now()

    def _fold(self, sample: HostSample, via: str) -> None:
        absent = sample.gpu_problem_kind is GpuProblem.NO_DRIVER
        self._state.source("gpus", via=via, problem=sample.gpu_problem, is_absent=absent)
        skew = sample.clock_skew_seconds
        self._state.use(
            self._use(sample),
            sample.gpus,
            clock_skew_seconds=None if skew is None else round(skew, 1),
            driver_version=sample.driver_version,
            cuda_driver_version=sample.cuda_driver_version,
            shm_used_bytes=sample.shm_used_bytes,
            shm_total_bytes=sample.shm_total_bytes,
        )
        self._before = sample

    def _use(self, sample: HostSample) -> dict[str, ResourceUse]:
        before = self._before or sample
        return {
            unit: (use.memory_bytes, cpu_percent(before, sample, unit), use.tasks)
            for unit, use in sample.cgroups.items()
        }
