"""Quantities as cells: each has its unit, and unknown is `–`, never 0. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflashtui.text import human_bytes, human_span, printable
from dflashtui.tui.gpu_health import health_role, is_hot
from dflashtui.tui.styled import EMPTY, Cell, cell

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from dflashtui.model.gpu import Gpu
    from dflashtui.model.host import HostSnapshot

UNKNOWN: Cell = (("–", "dim"),)
FILLS = "▁▂▃▄▅▆▇█"
BAR, BAR_REST = "━", "─"
GIB = 2**30
STALE_AFTER_SECONDS = 12
"""Hosts out of view are sampled every 5 s, on large fleets every 10 s: older than this is old."""


def number(value: float | None, unit: str, tone: str = "", digits: int = 0) -> Cell:
    """`62 %`, `67 °C`; the unit is dim."""
    if value is None:
        return UNKNOWN
    return ((f"{value:.{digits}f}", tone), (f" {unit}", tone or "dim"))


def bytes_cell(count: int | None) -> Cell:
    """`54.0 GiB`."""
    return UNKNOWN if count is None else cell(human_bytes(count))


def share(used: int | None, total: int | None) -> Cell:
    """`486/1128 GiB`."""
    if used is None or total is None:
        return UNKNOWN
    return ((f"{used / GIB:.0f}", ""), (f"/{total / GIB:.0f} GiB", "dim"))


def memory_of(gpus: Sequence[Gpu]) -> Cell:
    """Memory in use on all GPUs of a host, of those that can be read."""
    return share(_sum(gpu.memory_used_bytes for gpu in gpus), _sum(gpu.memory_total_bytes for gpu in gpus))


def _sum(values: Iterable[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def count_of(part: int, whole: int, tone: str = "") -> Cell:
    """`4/5`; nothing of nothing is `–`."""
    return UNKNOWN if whole == 0 else cell(f"{part}/{whole}", tone)


def span_since(moment: datetime | None, now: datetime) -> Cell:
    """`3m20s`; `–` when it is not known since when."""
    return UNKNOWN if moment is None else cell(human_span((now - moment).total_seconds()))


def fill(percent: float | None) -> str:
    """One character that is as full as `percent`; `?` for unknown."""
    if percent is None:
        return "?"
    return FILLS[min(len(FILLS) - 1, int(max(0.0, percent) * len(FILLS) / 100))]


def gpu_cell(gpu: Gpu) -> Cell:
    """One GPU in one character: fill is utilisation, colour is health; a lost one is `×`."""
    return cell("×" if gpu.lost else fill(gpu.utilization_percent), health_role(gpu))


def gpu_cells(gpus: Sequence[Gpu]) -> Cell:
    """All GPUs of a host, in groups of four."""
    pieces: list[tuple[str, str]] = []
    for place, gpu in enumerate(gpus):
        if place and place % 4 == 0:
            pieces.append((" ", ""))
        pieces.extend(gpu_cell(gpu))
    return tuple(pieces)


def meter(percent: float | None, width: int, tone: str) -> Cell:
    """A bar from 0 to 100; empty for unknown."""
    if percent is None:
        return cell(BAR_REST * width, "dim")
    full = round(min(100.0, max(0.0, percent)) * width / 100)
    return ((BAR * full, tone), (BAR_REST * (width - full), "dim"))


def temperature(gpu: Gpu) -> Cell:
    """Degrees, judged by the card's own limit."""
    return number(gpu.temperature_celsius, "°C", "warn" if is_hot(gpu) else "")


def hottest(gpus: Iterable[Gpu]) -> Gpu | None:
    """The GPU with the highest temperature that is known."""
    known = [gpu for gpu in gpus if gpu.temperature_celsius is not None]
    return max(known, key=lambda gpu: gpu.temperature_celsius or 0, default=None)


def age_seconds(host: HostSnapshot, now: datetime) -> float | None:
    """How old the newest value of a host is."""
    return None if host.observed_at is None else max(0.0, (now - host.observed_at).total_seconds())


def age_cell(host: HostSnapshot, now: datetime) -> Cell:
    """`live`, or how old the values are."""
    age = age_seconds(host, now)
    if age is None:
        return UNKNOWN
    if age < STALE_AFTER_SECONDS:
        return cell("live", "dim")
    return cell(human_span(age), "stale")


def is_stale(host: HostSnapshot, now: datetime) -> bool:
    """Whether its values are too old to look live."""
    age = age_seconds(host, now)
    return age is not None and age >= STALE_AFTER_SECONDS


def optional(text: str | None, tone: str = "") -> Cell:
    """The text, or `–`."""
    return cell(printable(text), tone) if text else UNKNOWN if text is None else EMPTY
