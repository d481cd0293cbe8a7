"""What the kernel said around the end of a run: Xids and kills for want of memory, within half a minute."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from dflashtui.errors import DecodeError, DflashError
from dflashtui.model.gpu import Xid
from dflashtui.model.kernel import OomKill
from dflashtui.model.xids import meaning
from dflashtui.source.journal_argv import JSON
from dflashtui.source.journal_entry import decode_entry
from dflashtui.source.kernel import OomReader, xid

if TYPE_CHECKING:
    from collections.abc import Collection
    from datetime import datetime

    from dflashtui.fleet.base import Fleet
    from dflashtui.model.host import HostSnapshot
    from dflashtui.model.journal import JournalEntry

WITHIN_SECONDS = 30.0
LIMIT_SECONDS = 10.0
MOST_LINES = 2000
SHOWN = 5


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Faults in the order of their times."""

    xids: tuple[Xid, ...] = ()
    kills: tuple[OomKill, ...] = ()
    lines: tuple[tuple[Xid | OomKill, JournalEntry], ...] = ()
    """The kernel's own lines about them."""

    def of_run(self, unit: str, pids: Collection[int], buses: Collection[str]) -> tuple[JournalEntry, ...]:
        """The lines that a run has to do with, by its processes and GPUs: only these may be the cause of its end."""
        return tuple(entry for fault, entry in self.lines if _concerns(fault, unit, pids, buses))

    def words(self, host: HostSnapshot) -> tuple[str, ...]:
        """A line each, at most five."""
        return (*(_xid_words(one, host) for one in self.xids), *map(_kill_words, self.kills))[:SHOWN]


async def neighbours_of(fleet: Fleet, host: str, ended_at: datetime, *, by_sudo: bool) -> Neighbours:
    """The faults that are known already, and those in the kernel's part of the journal, if it can be read."""
    entries = await _kernel_lines(fleet, host, ended_at, by_sudo=by_sudo)
    reader = OomReader()
    lines = [(fault, entry) for entry in entries if (fault := xid(entry) or reader.read(entry))]
    xids = [fault for fault, _ in lines if isinstance(fault, Xid)]
    kills = [fault for fault, _ in lines if isinstance(fault, OomKill)]
    snapshot = fleet.snapshot(host)
    xids += [one for one in snapshot.xids if one not in xids and _is_near(one.at, ended_at)]
    kills += [one for one in snapshot.oom_kills if one not in kills and _is_near(one.at, ended_at)]
    return Neighbours(
        tuple(sorted(xids, key=lambda one: one.at)), tuple(sorted(kills, key=lambda one: one.at)), tuple(lines)
    )


def _concerns(fault: Xid | OomKill, unit: str, pids: Collection[int], buses: Collection[str]) -> bool:
    if isinstance(fault, OomKill):
        return fault.unit == unit or fault.pid in pids
    return fault.pid in pids or (fault.pid is None and fault.pci_bus_id in buses)


def _is_near(at: datetime, ended_at: datetime) -> bool:
    return abs((at - ended_at).total_seconds()) <= WITHIN_SECONDS


async def _kernel_lines(fleet: Fleet, host: str, ended_at: datetime, *, by_sudo: bool) -> list[JournalEntry]:
    span = timedelta(seconds=WITHIN_SECONDS)
    since, until = (ended_at - span).timestamp(), (ended_at + span).timestamp()
    argv = (
        *(("sudo", "-n") if by_sudo else ()),
        "journalctl",
        *JSON,
        f"--since=@{since:.0f}",
        f"--until=@{until + 1:.0f}",
        f"--lines={MOST_LINES}",
        "_TRANSPORT=kernel",
    )
    try:
        async with asyncio.timeout(LIMIT_SECONDS):
            done = await fleet.ask(host, argv)
    except (DflashError, TimeoutError):
        return []
    return [entry for line in done.stdout.splitlines() if (entry := _entry(line))]


def _entry(line: bytes) -> JournalEntry | None:
    try:
        return decode_entry(line) if line.strip() else None
    except DecodeError:
        return None


def _xid_words(one: Xid, host: HostSnapshot) -> str:
    known = meaning(one.xid)
    index = next((gpu.index for gpu in host.gpus or () if gpu.pci_bus_id == one.pci_bus_id), None)
    where = one.pci_bus_id if index is None else f"GPU {index}"
    whose = f", pid {one.pid}" if one.pid is not None else ""
    return f"Xid {one.xid} on {where}{whose}: {known.words if known else one.message}"


def _kill_words(kill: OomKill) -> str:
    limit = "the limit of its control group" if kill.is_cgroup_limit else "the memory of the host"
    of = f" of {kill.unit}" if kill.unit else ""
    return f"out of memory: the kernel killed pid {kill.pid} ({kill.process_name or '?'}){of}: {limit}"
