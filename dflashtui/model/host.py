"""A host: how the link to it stands, and the newest values from it."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from dflashtui.model.base import Value
from dflashtui.model.finding import Cause
from dflashtui.model.gpu import Gpu, Xid
from dflashtui.model.kernel import OomKill
from dflashtui.model.unit import UnitStatus


class LinkState(StrEnum):
    """How the link to a host stands; the words of the contract's `hosts[].state`."""

    CONNECTING = "connecting"
    UP = "up"
    UNREACHABLE = "unreachable"
    AUTH_FAILED = "auth-failed"
    HOSTKEY_UNKNOWN = "hostkey-unknown"
    HOSTKEY_CHANGED = "hostkey-changed"
    NO_SYSTEMD = "no-systemd"
    MISCONFIGURED = "misconfigured"


class Link(Value):
    """The link to a host."""

    state: LinkState = LinkState.CONNECTING
    since: datetime | None = None
    step: str | None = None
    """While connecting, what is being waited for: `handshake`, `login`, `bus`."""
    error: str | None = None
    """What came back, in words, with what to do."""
    attempt: int = 0
    retry_at: datetime | None = None
    """When the next attempt is due; `None`: a person has to act, or the link is up."""
    latency_ms: float | None = None
    """Round trip of a small request."""
    fingerprints: tuple[str, ...] = ()
    """Of a refused host key: offered first, then the known ones."""
    known_hosts_line: str | None = None
    """The line that would make an unknown host key known."""


class SourceState(Value):
    """How one source of a host is read: `units` by `bus`, `gpus` by `nvidia-smi`, …"""

    source: str
    """`units`, `journal`, `gpus`, `kernel`."""
    via: str | None = None
    """The way in use: `bus`, `stdio-bridge`, `systemctl`; `sampler`, `nvidia-smi`; `journalctl`."""
    problem: str | None = None
    """Why it cannot be read, with the right or package that would help; `None`: it is read."""
    is_absent: bool = False
    """There is nothing to read here (no NVIDIA driver): a fact about the host, not a fault."""


class HostSnapshot(Value):
    """The newest values of one host. Values outlive a lost link: `observed_at` says how old they are."""

    name: str
    group: str | None = None
    address: str | None = None
    protected: bool = False
    read_only: bool = False
    link: Link = Link()
    observed_at: datetime | None = None
    """When the host last said anything; `None`: never yet."""
    systemd_version: int | None = None
    boot_id: str | None = None
    clock_skew_seconds: float | None = None
    """Host's clock minus ours; positive: the host is ahead."""
    driver_version: str | None = None
    cuda_driver_version: str | None = None
    gpus: tuple[Gpu, ...] | None = None
    """By index; `None`: not known yet, or no driver (see `sources`)."""
    gpus_at: datetime | None = None
    units: tuple[UnitStatus, ...] | None = None
    """Watched units, in inventory order, then by name; `None`: not known yet."""
    shm_used_bytes: int | None = None
    shm_total_bytes: int | None = None
    xids: tuple[Xid, ...] = ()
    """Newest last, since the host was first connected, not yet acknowledged."""
    oom_kills: tuple[OomKill, ...] = ()
    """Processes that the kernel ended for want of memory, newest last, since the host was first connected."""
    causes: tuple[Cause, ...] = ()
    """Why units failed, as far as somebody looked (`--check`): each names its unit and invocation."""
    sources: tuple[SourceState, ...] = ()
    channels: int | None = None
    """Long-lived SSH channels in use."""
    journal_dropped_count: int = 0
    """Lines that came faster than they were taken."""

    def unit(self, name: str) -> UnitStatus | None:
        """The unit of that name or alias, if it is watched and known."""
        return next((unit for unit in self.units or () if name == unit.name or name in unit.aliases), None)
