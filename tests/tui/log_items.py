"""Journal items for the tests of the log pane."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from dflashtui.model.journal import JournalEntry, JournalGap, Priority

if TYPE_CHECKING:
    from collections.abc import Iterable

START = datetime(2026, 12, 1, 3, 0, tzinfo=UTC)
TRACEBACK = (
    "Traceback (most recent call last):",
    '  File "/opt/sglang/launch_server.py", line 36, in run_server',
    "    from sglang.srt.entrypoints.http_server import launch_server",
    "ModuleNotFoundError: No module named 'soundfile'",
)


def entry(
    number: int, message: str, *, pid: int = 7, priority: Priority = Priority.INFO, from_manager: bool = False
) -> JournalEntry:
    """One entry, `number` seconds after the start."""
    return JournalEntry(
        cursor=f"i={number}",
        at=START + timedelta(seconds=number),
        message=message,
        pid=1 if from_manager else pid,
        priority=priority,
        from_manager=from_manager,
        invocation_id="a" * 32,
        unit="sglang-a.service",
        syslog_identifier="systemd" if from_manager else "python",
    )


def entries(messages: Iterable[str], first: int = 0) -> tuple[JournalEntry, ...]:
    """One entry a second."""
    return tuple(entry(first + place, message) for place, message in enumerate(messages))


def numbered(count: int, first: int = 0) -> tuple[JournalEntry, ...]:
    """`line 0`, `line 1`, …"""
    return entries((f"line {first + place}" for place in range(count)), first)


def gap(number: int, reason: str = "journal rotated while the link was down") -> JournalGap:
    """A gap, `number` seconds after the start."""
    return JournalGap(at=START + timedelta(seconds=number), reason=reason)
