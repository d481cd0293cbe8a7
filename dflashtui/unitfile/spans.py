"""Time spans as systemd.time(7) writes them."""

from __future__ import annotations

import re

PART = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([A-Za-zµ]*)\s*")
UNIT_SECONDS = {
    **dict.fromkeys(("us", "usec", "µs"), 1e-6),
    **dict.fromkeys(("ms", "msec"), 1e-3),
    **dict.fromkeys(("", "s", "sec", "second", "seconds"), 1.0),
    **dict.fromkeys(("m", "min", "minute", "minutes"), 60.0),
    **dict.fromkeys(("h", "hr", "hour", "hours"), 3600.0),
    **dict.fromkeys(("d", "day", "days"), 86400.0),
    **dict.fromkeys(("w", "week", "weeks"), 7 * 86400.0),
}


def span_seconds(text: str) -> float | None:
    """`5min 20s` as seconds, `infinity` as infinity; `None`: not a span."""
    if text.strip() == "infinity":
        return float("inf")
    total, end = 0.0, 0
    while part := PART.match(text, end):
        if part[2] not in UNIT_SECONDS:
            return None
        total, end = total + float(part[1]) * UNIT_SECONDS[part[2]], part.end()
    return total if end and end == len(text) else None
