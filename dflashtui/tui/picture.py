"""All that is drawn, as one value; totals and problems are worked out from it. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from dflashtui.model.finding import Level
from dflashtui.model.host import LinkState
from dflashtui.model.rules import findings
from dflashtui.model.unit import Readiness
from dflashtui.text import printable
from dflashtui.tui.gpu_health import is_used
from dflashtui.tui.subject import gpu_subject, host_subject, unit_subject

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from dflashtui.model.event import Event
    from dflashtui.model.finding import Finding
    from dflashtui.model.gpu import Gpu
    from dflashtui.model.host import HostSnapshot
    from dflashtui.model.unit import UnitStatus
    from dflashtui.tui.subject import Subject

ROLES = {Level.FAILED: "bad", Level.UNKNOWN: "stale", Level.WARNING: "warn"}
ROLE_ORDER = ("bad", "stale", "warn")
ON_ITS_WAY = ("connecting@", "loading:")
"""Findings that only need time: a state on the screen, not a problem."""


@dataclass(frozen=True, slots=True)
class Picture:
    """The fleet at one moment."""

    now: datetime
    hosts: tuple[HostSnapshot, ...] = ()
    events: tuple[Event, ...] = ()
    """Oldest first."""
    first_event: int = 0
    """The number of the oldest event kept; events are numbered from the start of the console."""
    is_demo: bool = False
    read_only: bool = False
    frozen_since: datetime | None = None
    has_inventory: bool = True
    """False: no hosts.toml was found, and this machine alone is watched."""

    def host(self, name: str) -> HostSnapshot | None:
        """The host of that name."""
        return next((host for host in self.hosts if host.name == name), None)

    def unit(self, subject: Subject) -> UnitStatus | None:
        """The unit a row is about."""
        host = self.host(subject.host)
        return host.unit(subject.name) if host else None

    def gpu(self, subject: Subject) -> Gpu | None:
        """The GPU a row is about."""
        host = self.host(subject.host)
        return next((gpu for gpu in (host.gpus or ()) if str(gpu.index) == subject.name), None) if host else None

    def event(self, subject: Subject) -> Event | None:
        """The event a row is about; `None` when it is no longer kept."""
        place = int(subject.name) - self.first_event
        return self.events[place] if 0 <= place < len(self.events) else None


class Problem(NamedTuple):
    """Something that needs a person."""

    role: str
    subject: Subject
    words: str


class Totals(NamedTuple):
    """What the header counts."""

    hosts_up: int
    hosts: int
    ready: int
    services: int
    gpus_used: int
    gpus: int
    alarms: int
    """Problems of the role bad."""
    unseen: int
    """What could not be looked at: neither well nor broken."""
    warnings: int


def services(host: HostSnapshot) -> tuple[UnitStatus, ...]:
    """Units that serve a model."""
    return tuple(unit for unit in host.units or () if unit.readiness is not Readiness.NONE)


def ready_count(host: HostSnapshot) -> int:
    """How many of them answer."""
    return sum(unit.readiness is Readiness.READY for unit in host.units or ())


def ready_now(hosts: Iterable[HostSnapshot]) -> int:
    """How many answer now: what an unreachable host said last is no news of today."""
    return sum(ready_count(host) for host in hosts if host.link.state is LinkState.UP)


def problems(picture: Picture) -> tuple[Problem, ...]:
    """Everything that needs a person, worst first, then in the order of the inventory."""
    found = [problem for host in picture.hosts for problem in host_problems(host, picture.now)]
    return tuple(sorted(found, key=lambda problem: ROLE_ORDER.index(problem.role)))


def host_problems(host: HostSnapshot, now: datetime) -> tuple[Problem, ...]:
    """What is wrong with a host, its units and GPUs, worst first: the check's rules, without what is on its way.

    List, problems and header ask for the same in each picture; with hundreds of hosts that would be felt.
    """
    known = _KNOWN.get(host.name)
    if known is None or known[0] is not host or known[1] != now:
        known = _KNOWN[host.name] = host, now, _host_problems(host, now)
    return known[2]


_KNOWN: dict[str, tuple[HostSnapshot, datetime, tuple[Problem, ...]]] = {}


def _host_problems(host: HostSnapshot, now: datetime) -> tuple[Problem, ...]:
    return tuple(_problem(finding, host) for finding in findings(host, now) if not finding.id.startswith(ON_ITS_WAY))


def _problem(finding: Finding, host: HostSnapshot) -> Problem:
    if finding.unit is not None:
        return Problem(ROLES[finding.level], unit_subject(host.name, finding.unit), printable(finding.message))
    gpu = _gpu_of(finding, host)
    if gpu is None:
        return Problem(ROLES[finding.level], host_subject(host.name), printable(finding.message))
    words = printable(finding.message.removeprefix(f"GPU {gpu.index}: "))
    return Problem(ROLES[finding.level], gpu_subject(host.name, gpu.index), words)


def _gpu_of(finding: Finding, host: HostSnapshot) -> Gpu | None:
    """The GPU that a finding names in its id: `gpu-lost:UUID@host`, `orphan:UUID:PID@host`, `xid:BUS:NUMBER@host`."""
    thing = finding.id.partition(":")[2].removesuffix(f"@{host.name}")
    for gpu in host.gpus or ():
        names = (gpu.uuid or str(gpu.index), gpu.pci_bus_id)
        if any(name and (thing == name or thing.startswith(f"{name}:")) for name in names):
            return gpu
    return None


def totals(picture: Picture) -> Totals:
    """The figures of the header."""
    gpus = [(host, gpu) for host in picture.hosts for gpu in host.gpus or ()]
    found = problems(picture)
    return Totals(
        hosts_up=sum(host.link.state is LinkState.UP for host in picture.hosts),
        hosts=len(picture.hosts),
        ready=ready_now(picture.hosts),
        services=sum(len(services(host)) for host in picture.hosts),
        gpus_used=sum(is_used(gpu) for host, gpu in gpus if host.link.state is LinkState.UP),
        gpus=len(gpus),
        alarms=sum(problem.role == "bad" for problem in found),
        unseen=sum(problem.role == "stale" for problem in found),
        warnings=sum(problem.role == "warn" for problem in found),
    )
