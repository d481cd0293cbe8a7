"""The time before a line. Pure."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

from dflashtui.text import human_span

if TYPE_CHECKING:
    from datetime import date, datetime, timedelta, tzinfo

MINUTE, HOUR, DAY = 60, 3600, 86400


class Stamp(Enum):
    """What `t` cycles through; the value is the word in the title."""

    CLOCK = "clock"
    SINCE_START = "since start"
    GAP = "gap"
    AGO = "ago"
    OFF = "no times"

    def next(self) -> Stamp:
        """After one press of `t`."""
        order = tuple(Stamp)
        return order[(order.index(self) + 1) % len(order)]


WIDTHS = {Stamp.CLOCK: 13, Stamp.SINCE_START: 11, Stamp.GAP: 9, Stamp.AGO: 8, Stamp.OFF: 0}
"""Cells of the column, with the blank after it."""


def clock(at: datetime, today: date, zone: tzinfo | None) -> str:
    """`03:00:09.123` in that zone (`None`: the console's own); a line of another day than `today` has its date."""
    local = at.astimezone(zone)
    if local.date() != today:
        return f"{local:%m-%d %H:%M} "
    return f"{local:%H:%M:%S}.{local.microsecond // 1000:03d}"


def since_start(at: datetime, start: datetime | None) -> str:
    """`+0.482`, `+1m10.2`, `+2h05m10`; `–` when the start is not known."""
    return "–" if start is None else _span(at - start)


def gap(at: datetime, before: datetime | None) -> str:
    """Since the line before; nothing for the first."""
    return "" if before is None else _span(at - before)


def ago(at: datetime, now: datetime) -> str:
    """`-45s`, `-1m10s`; nothing is said of times to come."""
    seconds = (now - at).total_seconds()
    return f"-{human_span(seconds)}" if seconds >= 0 else "to come"


def _span(span: timedelta) -> str:
    seconds = span.total_seconds()
    sign, seconds = ("-", -seconds) if seconds < 0 else ("+", seconds)
    if seconds < MINUTE:
        return f"{sign}{seconds:.3f}"
    if seconds < HOUR:
        return f"{sign}{int(seconds // MINUTE)}m{seconds % MINUTE:04.1f}"
    if seconds < DAY:
        return f"{sign}{int(seconds // HOUR)}h{int(seconds % HOUR // MINUTE):02d}m{int(seconds % MINUTE):02d}"
    return f"{sign}{int(seconds // DAY)}d{int(seconds % DAY // HOUR):02d}h"
