"""Faults in the kernel's log: Xids of the NVIDIA driver, and kills for want of memory. Pure.

Forms: the driver prints `NVRM: Xid (PCI:0000:3b:00): 31, pid=471, name=python3, Ch 00000008, …`; old drivers without
name, pid, or `PCI:`; with MIG ` GPU-I:05` after the bus id; `pid='<unknown>'` when no process is to blame.
The kernel's mm/oom_kill.c prints `oom-kill:constraint=…` (5.0 and newer), then `…out of memory: Killed process …`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from dflashtui.model.gpu import Xid
from dflashtui.model.kernel import OomKill
from dflashtui.sampler.cgroups import holder

if TYPE_CHECKING:
    from dflashtui.model.journal import JournalEntry

XID = re.compile(
    r"NVRM: Xid \((?:PCI:)?(?P<bus>[0-9A-Fa-f]{4,8}(?::[0-9A-Fa-f]{2}){2}(?:\.\d)?)(?: [^)]*)?\): (?P<xid>\d+)"
    r"(?:, pid=(?:(?P<pid>\d+)|'?<unknown>'?))?"
    r"(?:, name=(?P<name>.*?)(?=, |$))?"
    r"(?:,? (?P<text>.*))?",
    re.DOTALL,
)
FALLEN_OFF = re.compile(
    r"NVRM: (?:The NVIDIA )?GPU (?P<bus>[0-9A-Fa-f]{4,8}(?::[0-9A-Fa-f]{2}){2}(?:\.\d)?)\b.*fallen off the bus",
    re.DOTALL,
)
"""At the start of a driver, without a number."""
FALLEN_OFF_XID = 79
UNKNOWN_NAME = "<unknown>"
OOM_CONTEXT = re.compile(
    r"oom-kill:constraint=(?P<constraint>\w+),.*task_memcg=(?P<group>.*),task=(?P<name>.*),pid=(?P<pid>\d+),uid=\d+"
)
OOM_KILLED = re.compile(
    r"(?P<scope>Out of memory|Memory cgroup out of memory)?(?:.*: )?"
    r"Killed process (?P<pid>\d+) \((?P<name>.*?)\)(?:,| )(?:.*anon-rss:(?P<rss>\d+)kB)?"
)


MATTERS = re.compile(
    r"NVRM|nvidia-?\w*:|NVSwitch|oom-kill:|Out of memory|out of memory|Killed process|oom_reaper"
    r"|segfault at|general protection fault|traps:|hung_task|blocked for more than|soft lockup|Hardware Error|mce:"
    r"|I/O error|EXT4-fs error|XFS.*(?:error|shutdown)|PCIe Bus Error|AER:|Machine check"
)
"""What of the kernel's log explains a service's trouble: GPUs, memory, crashes, disks, hardware."""


def matters(entry: JournalEntry) -> bool:
    """Whether a kernel line is worth being read beside a service's own."""
    return is_from_kernel(entry) and MATTERS.search(entry.message) is not None


def is_from_kernel(entry: JournalEntry) -> bool:
    """Whether journald vouches for it. Any user can write with the identifier `kernel`."""
    return entry.transport == "kernel"


def nvml_bus_id(pci: str) -> str:
    """NVML's form of a bus id, `00000000:3B:00.0`, for the kernel's `0000:3b:00`."""
    domain, bus, device = pci.partition(".")[0].upper().split(":")
    return f"{domain.zfill(8)}:{bus}:{device}.0"


def xid(entry: JournalEntry) -> Xid | None:
    """The Xid that a kernel line tells, if it does."""
    if not is_from_kernel(entry):
        return None
    found = XID.search(entry.message) or FALLEN_OFF.search(entry.message)
    if found is None:
        return None
    told = found.groupdict()
    name = told.get("name")
    return Xid(
        pci_bus_id=nvml_bus_id(found["bus"]),
        xid=int(told.get("xid") or FALLEN_OFF_XID),
        at=entry.at,
        pid=int(told["pid"]) if told.get("pid") else None,
        process_name=None if name in {None, "", UNKNOWN_NAME, f"'{UNKNOWN_NAME}'"} else name,
        message=(told.get("text") or "").strip() if "xid" in told else "GPU has fallen off the bus",
    )


class OomReader:
    """Makes one `OomKill` of the two lines that the kernel prints about one."""

    def __init__(self) -> None:
        self._context: OomKill | None = None

    def read(self, entry: JournalEntry) -> OomKill | None:
        """The kill, when the line that ends its report comes."""
        if not is_from_kernel(entry):
            return None
        if context := OOM_CONTEXT.search(entry.message):
            self._context = _from_context(entry, context)
            return None
        killed = OOM_KILLED.search(entry.message)
        return self._joined(entry, killed) if killed else None

    def _joined(self, entry: JournalEntry, killed: re.Match[str]) -> OomKill:
        context, self._context = self._context, None
        kibibytes = killed["rss"]
        rss = int(kibibytes) * 1024 if kibibytes else None
        if context and context.pid == int(killed["pid"]):
            return context.model_copy(update={"at": entry.at, "anon_rss_bytes": rss})
        return OomKill(
            at=entry.at,
            pid=int(killed["pid"]),
            process_name=killed["name"] or None,
            is_cgroup_limit=killed["scope"] == "Memory cgroup out of memory",
            anon_rss_bytes=rss,
        )


def _from_context(entry: JournalEntry, found: re.Match[str]) -> OomKill:
    unit, _ = holder(f"0::{found['group']}")
    return OomKill(
        at=entry.at,
        pid=int(found["pid"]),
        process_name=found["name"] or None,
        unit=unit,
        is_cgroup_limit=found["constraint"] == "CONSTRAINT_MEMCG",
    )
