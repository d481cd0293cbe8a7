"""All that is drawn, as one value; totals and problems are worked out from it. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from dflashtui.model.host import LinkState
from dflashtui.model.unit import Readiness
from dflashtui.text import printable
from dflashtui.tui.glyphs import link_state, unit_state
from dflashtui.tui.gpu_health import gpu_faults, gpu_warnings, is_used
from dflashtui.tui.subject import gpu_subject, host_subject, unit_subject

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from dflashtui.model.event import Event
    from dflashtui.model.gpu import Gpu
    from dflashtui.model.host import HostSnapshot
    from dflashtui.model.unit import UnitStatus
    from dflashtui.tui.subject import Subject

SKEW_WORTH_SAYING_SECONDS = 1.0
ROLE_ORDER = ("bad", "warn", "stale")


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


class Problem(NamedTuple):
    """Something that needs a person."""

    role: str
    subject: Subject
    word: str
    detail: str
    since: datetime | None = None


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
    warnings: int


def services(host: HostSnapshot) -> tuple[UnitStatus, ...]:
    """Units that serve a model."""
    return tuple(unit for unit in host.units or () if unit.readiness is not Readiness.NONE)


def ready_count(host: HostSnapshot) -> int:
    """How many of them answer."""
    return sum(unit.readiness is Readiness.READY for unit in host.units or ())


def problems(picture: Picture) -> tuple[Problem, ...]:
    """Everything that needs a person, worst first, then in the order of the inventory."""
    found = [problem for host in picture.hosts for problem in host_problems(host, picture.now)]
    return tuple(sorted(found, key=lambda problem: ROLE_ORDER.index(problem.role)))


def host_problems(host: HostSnapshot, now: datetime) -> tuple[Problem, ...]:
    """What is wrong with a host, its units and its GPUs, worst first."""
    found = [*_link_problems(host, now), *_unit_problems(host, now), *_gpu_problems(host), *_source_problems(host)]
    return tuple(sorted(found, key=lambda problem: ROLE_ORDER.index(problem.role)))


def _link_problems(host: HostSnapshot, now: datetime) -> Iterator[Problem]:
    subject = host_subject(host.name)
    if host.link.state not in {LinkState.UP, LinkState.CONNECTING}:
        state = link_state(host.link, now)
        role = "bad" if state.role == "stale" else state.role
        yield Problem(role, subject, state.word, printable(host.link.error or "no reason was given"), host.link.since)
    skew = host.clock_skew_seconds
    if skew is not None and abs(skew) > SKEW_WORTH_SAYING_SECONDS:
        side = "ahead of" if skew > 0 else "behind"
        yield Problem("warn", subject, "clock skew", f"its clock is {abs(skew):.1f} s {side} this one")


def _unit_problems(host: HostSnapshot, now: datetime) -> Iterator[Problem]:
    for unit in host.units or ():
        state = unit_state(unit, now)
        subject = unit_subject(host.name, unit.name)
        if state.role in {"bad", "warn"}:
            yield Problem(state.role, subject, state.word, unit_trouble(unit), unit.since)
        elif unit.needs_reload:
            yield Problem("warn", subject, "needs reload", "its unit file changed on disk: daemon-reload is needed")


def unit_trouble(unit: UnitStatus) -> str:
    """The evidence, in one line."""
    words = unit.load_error or unit.readiness_detail or unit.description
    return printable(words, limit=200)


def _gpu_problems(host: HostSnapshot) -> Iterator[Problem]:
    for gpu in host.gpus or ():
        subject = gpu_subject(host.name, gpu.index)
        if faults := gpu_faults(gpu):
            since = gpu.last_xid.at if gpu.last_xid else None
            words = printable(gpu.lost or (gpu.last_xid.message if gpu.last_xid else ""), limit=200)
            yield Problem("bad", subject, " · ".join(faults), words, since)
        elif warnings := gpu_warnings(gpu):
            yield Problem("warn", subject, warnings[0], " · ".join(warnings[1:]))


def _source_problems(host: HostSnapshot) -> Iterator[Problem]:
    for source in host.sources:
        if source.problem:
            words = printable(source.problem, limit=300)
            yield Problem("warn", host_subject(host.name), f"{source.source} unread", words)


def totals(picture: Picture) -> Totals:
    """The figures of the header."""
    gpus = [gpu for host in picture.hosts for gpu in host.gpus or ()]
    found = problems(picture)
    return Totals(
        hosts_up=sum(host.link.state is LinkState.UP for host in picture.hosts),
        hosts=len(picture.hosts),
        ready=sum(map(ready_count, picture.hosts)),
        services=sum(len(services(host)) for host in picture.hosts),
        gpus_used=sum(map(is_used, gpus)),
        gpus=len(gpus),
        alarms=sum(problem.role == "bad" for problem in found),
        warnings=sum(problem.role != "bad" for problem in found),
    )
