"""What the demo plays: one plan for each host and service, from the inventory. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

GIB = 2**30


class Behaviour(StrEnum):
    """What becomes of a start of a service."""

    SERVES = "serves"
    LOADS = "loads"
    LOOPS = "loops"
    RUNS_OUT_OF_MEMORY = "runs-out-of-memory"
    LOST_ITS_GPU = "lost-its-gpu"
    IS_SICK = "is-sick"
    IS_STOPPED = "is-stopped"


class HostFault(StrEnum):
    """What is wrong with a host as a whole."""

    NONE = "none"
    NEVER_REACHED = "never-reached"
    LOST = "lost"
    AUTH_FAILED = "auth-failed"
    HOSTKEY_CHANGED = "hostkey-changed"
    HOSTKEY_UNKNOWN = "hostkey-unknown"
    NO_DRIVER = "no-driver"
    NO_JOURNAL = "no-journal"
    CLOCK_SKEW = "clock-skew"
    CONNECTING = "connecting"


@dataclass(frozen=True, slots=True)
class ServicePlan:
    """One service of one host."""

    host: str
    unit: str
    description: str
    engine: str
    model: str
    gpus: tuple[int, ...]
    port: int
    behaviour: Behaviour
    memory_bytes: int
    """Held on each of its GPUs once loaded."""
    load_seconds: float
    command: str
    is_hostile: bool = False
    """Writes what no terminal should act upon; for tests."""


@dataclass(frozen=True, slots=True)
class HostPlan:
    """One host."""

    name: str
    number: int
    """Its place in the inventory."""
    address: str
    group: str | None
    protected: bool
    read_only: bool
    fault: HostFault
    lost_gpu: int | None
    orphan_gpu: int | None
    services: tuple[ServicePlan, ...]
    is_hostile: bool = False
