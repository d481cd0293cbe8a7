"""A host's GPUs and control groups, by the best way that the host allows: the shipped sampler, else nvidia-smi."""

from __future__ import annotations

from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Protocol

from dflashtui.errors import SourceUnavailable
from dflashtui.source import nvidia_smi_feed, sampler_feed

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping

    from dflashtui.model.sample import HostSample
    from dflashtui.transport.base import Transport


class Samples(Protocol):
    """A running feed. Iterating raises `TransportLost` with the link, `SourceUnavailable` or `DecodeError` without."""

    @property
    def via(self) -> str:
        """`sampler` or `nvidia-smi`."""

    @property
    def why(self) -> str | None:
        """Why not the better way; `None`: this is it."""

    def __aiter__(self) -> AsyncIterator[HostSample]:
        """A sample at once, then one each interval; without end."""

    async def set_interval(self, seconds: float) -> None:
        """From the next sample on."""

    async def watch_units(self, control_groups: Mapping[str, str]) -> None:
        """Report on these units' control groups (`ControlGroup` of the manager), and on no others."""

    async def sample_now(self) -> None:
        """Do not wait for the interval. nvidia-smi cannot be hurried: there it does nothing."""


def now_utc() -> datetime:
    """The console's clock."""
    return datetime.now(UTC)


@asynccontextmanager
async def samples(
    transport: Transport,
    *,
    interval_seconds: float,
    control_groups: Mapping[str, str] | None = None,
    clock: Callable[[], datetime] = now_utc,
) -> AsyncIterator[Samples]:
    """Open a feed; leaving it ends what it started on the host.

    A missing or broken driver is told in the samples. Raises `SourceUnavailable` if the host has neither a python3
    that can run the sampler nor nvidia-smi.
    """
    async with AsyncExitStack() as stack:
        try:
            feed: Samples = await stack.enter_async_context(
                sampler_feed.sampler(transport, interval_seconds, control_groups or {}, clock)
            )
        except sampler_feed.CannotRun as reason:
            why = f"the sampler cannot run ({reason})"
            try:
                feed = await stack.enter_async_context(
                    nvidia_smi_feed.nvidia_smi(transport, interval_seconds, clock, why)
                )
            except nvidia_smi_feed.NotInstalled:
                raise SourceUnavailable(transport.host, "gpus", f"{why}, and there is no nvidia-smi") from reason
        yield feed
