"""Lines and errors over time. Pure."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from dflashtui.text import human_span

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import tzinfo

    from dflashtui.tui.log.record import Record

BARS = " ▁▂▃▄▅▆▇█"


class Bucket(NamedTuple):
    """A part of the time."""

    line_count: int = 0
    error_count: int = 0
    first: int = -1
    """Position of its first record; -1: there is none."""


class Chart(NamedTuple):
    """The time that the records span, in parts of one length."""

    start: float
    """Seconds since the epoch."""
    step: float
    """Seconds of a part."""
    buckets: tuple[Bucket, ...]

    def place(self, at: float) -> int:
        """The part that a moment falls into."""
        return max(0, min(len(self.buckets) - 1, int((at - self.start) / self.step)))


def chart(records: Sequence[Record], width: int) -> Chart | None:
    """So many parts; `None` without records or room. Records may jump in time (a clock that was set): they count."""
    times = [record.shown_at.timestamp() for record in records]
    if not times or width < 1:
        return None
    start, end = min(times), max(times)
    step = max((end - start) / width, 1e-3) * (1 + 1e-9)
    counts = [[0, 0, -1] for _ in range(width)]
    for position, (record, at) in enumerate(zip(records, times, strict=True)):
        bucket = counts[min(width - 1, int((at - start) / step))]
        bucket[0] += record.count
        bucket[1] += record.is_error and not record.is_ours and record.head is None
        bucket[2] = position if bucket[2] < 0 else bucket[2]
    return Chart(start, step, tuple(Bucket(*one) for one in counts))


def bars(counts: Sequence[int]) -> str:
    """One character each, by height; what is not nothing is seen."""
    most = max(counts, default=0)
    return "".join(BARS[0 if not count else max(1, round(count / most * (len(BARS) - 1)))] for count in counts)


def beside(found: Chart, at: float, way: int) -> int:
    """Position of the first record of the next part (1) or the previous one (-1) that has any; -1: there is none."""
    here = found.place(at)
    order = found.buckets[here + 1 :] if way > 0 else found.buckets[:here][::-1]
    return next((bucket.first for bucket in order if bucket.line_count), -1)


def axis(found: Chart, width: int, zone: tzinfo | None) -> str:
    """Begin and end of the time, and how long a part is."""
    left, right = (_clock(at, zone) for at in (found.start, found.start + found.step * len(found.buckets)))
    step = f"{found.step:.1f} s" if found.step < 10 else human_span(found.step)  # noqa: PLR2004 - two digits
    middle = f"{step} a column · ← → walk"
    if width < len(left) + len(right) + len(middle) + 2:
        middle = ""
    return f"{left}{middle:^{max(1, width - len(left) - len(right))}}{right}"[:width]


def _clock(at: float, zone: tzinfo | None) -> str:
    return f"{datetime.fromtimestamp(at, UTC).astimezone(zone):%m-%d %H:%M:%S}"
