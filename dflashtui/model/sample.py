"""One look at a host's GPUs and control groups, and what two looks tell."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from pydantic import Field

from dflashtui.model.base import Value
from dflashtui.model.gpu import Gpu


class GpuProblem(StrEnum):
    """Why a host's GPUs cannot be read."""

    NO_DRIVER = "no-driver"
    """No library or no loaded driver: a fact of a host without GPUs, a fault of one that should have them."""
    MISMATCH = "driver-mismatch"
    """The library was upgraded, the loaded kernel module was not."""
    NO_ANSWER = "no-answer"
    """A call hangs in the driver."""
    OTHER = "other"


class CgroupUse(Value):
    """What a unit's control group uses; `None`: its controller is off, or the group is gone."""

    memory_bytes: int | None = None
    cpu_usage_nsec: int | None = None
    tasks: int | None = None


class HostSample(Value):
    """What one tick said."""

    at: datetime
    """When it arrived, by our clock."""
    host_time: datetime | None = None
    """The host's clock when it was sent; `None`: read by nvidia-smi."""
    monotonic_seconds: float | None = None
    """The host's clock for spans, within `boot_id`."""
    boot_id: str | None = None
    uptime_seconds: float | None = None
    load_average: float | None = None
    """Over one minute."""
    memory_available_bytes: int | None = None
    memory_total_bytes: int | None = None
    shm_used_bytes: int | None = None
    shm_total_bytes: int | None = None
    cgroups: dict[str, CgroupUse] = Field(default_factory=dict)
    """By unit; those that were asked for."""
    gpus: tuple[Gpu, ...] | None = None
    """By index; `None`: not read yet, or `gpu_problem` says why not."""
    gpu_problem: str | None = None
    """In words, with what to do."""
    gpu_problem_kind: GpuProblem | None = None
    driver_version: str | None = None
    cuda_driver_version: str | None = None

    @property
    def clock_skew_seconds(self) -> float | None:
        """Host's clock minus ours; the way from there to here makes it a little too small."""
        return None if self.host_time is None else (self.host_time - self.at).total_seconds()


def cpu_percent(before: HostSample, after: HostSample, unit: str) -> float | None:
    """CPU use of a unit between two samples, in percent of one core; `None` if they do not tell.

    A counter that went back belongs to another run of the unit, and a span needs one boot.
    """
    was, now = (sample.cgroups.get(unit, CgroupUse()).cpu_usage_nsec for sample in (before, after))
    if was is None or now is None or now < was or before.boot_id != after.boot_id:
        return None
    if before.monotonic_seconds is None or after.monotonic_seconds is None:
        return None
    span = after.monotonic_seconds - before.monotonic_seconds
    return (now - was) / (span * 1e7) if span > 0 else None
