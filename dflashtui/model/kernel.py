"""Faults that the kernel tells, beside `Xid`."""

from __future__ import annotations

from datetime import datetime

from dflashtui.model.base import Value


class OomKill(Value):
    """The kernel's out-of-memory killer ended a process."""

    at: datetime
    pid: int
    process_name: str | None = None
    unit: str | None = None
    """The unit of its control group."""
    is_cgroup_limit: bool = False
    """The group's own limit (`MemoryMax`) was reached; else the whole host ran out."""
    anon_rss_bytes: int | None = None
    """Memory of its own that the process held, without files."""
