"""One measured figure, and the table of them."""

from __future__ import annotations

import json
import statistics
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

WIDTHS = {"what": 42, "ours": 18, "target": 9, "other": 30, "ratio": 7}


@dataclass(frozen=True, slots=True)
class Figure:
    """Repeated measurements of one thing; the median speaks for them."""

    name: str
    runs: tuple[float, ...]

    @property
    def median(self) -> float:
        return statistics.median(self.runs)

    @property
    def spread(self) -> str:
        return f"{min(self.runs):.3g}–{max(self.runs):.3g}"


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table. Smaller is better for every figure."""

    what: str
    unit: str
    ours: Figure
    how: str
    target: float | None = None
    other: Figure | None = None
    times_better: float | None = None
    """How many times better than `other` it has to be."""
    notes: tuple[str, ...] = field(default=())

    @property
    def ratio(self) -> float | None:
        """How many times more the other needs; None where there is no other, or ours is nothing."""
        return self.other.median / self.ours.median if self.other and self.ours.median else None

    @property
    def is_reached(self) -> bool | None:
        """Whether target and ratio are met; None where nothing was promised."""
        within = [] if self.target is None else [self.ours.median <= self.target]
        if self.times_better is not None and self.other:
            within.append(self.other.median >= self.times_better * self.ours.median)
        return all(within) if within else None

    def cells(self) -> tuple[str, ...]:
        other = f"{self.other.median:.3g} {self.unit} {self.other.name}" if self.other else "–"
        target = "–" if self.target is None else f"≤ {self.target:g}"
        ratio = f"{self.ratio:.1f}×" if self.ratio else "–"
        mark = {True: "ok ", False: "MISS ", None: ""}[self.is_reached]
        return (self.what, f"{mark}{self.ours.median:.3g} {self.unit}", target, other, ratio, self.how)


def table(rows: Sequence[Row]) -> str:
    """The rows under each other; notes and spreads below."""
    head = (*WIDTHS, "how")
    lines = ["  ".join(_padded(line)) for line in (head, *(row.cells() for row in rows))]
    return "\n".join((*lines, "", *(_small_print(row) for row in rows)))


def _padded(cells: Sequence[str]) -> list[str]:
    return [cell.ljust(width) for cell, width in zip(cells, (*WIDTHS.values(), 0), strict=True)]


def _small_print(row: Row) -> str:
    measured = f"{row.what}: {len(row.ours.runs)} runs {row.ours.spread} {row.unit}"
    beside = f"; {row.other.name} {len(row.other.runs)} runs {row.other.spread} {row.unit}" if row.other else ""
    return "\n  ".join((measured + beside, *row.notes))


def document(rows: Sequence[Row], machine: dict[str, object]) -> str:
    """All of it as JSON."""
    return json.dumps({"machine": machine, "rows": [_as_json(row) for row in rows]}, indent=1, ensure_ascii=False)


def _as_json(row: Row) -> dict[str, object]:
    medians = {"ours_median": row.ours.median, "other_median": row.other.median if row.other else None}
    return {**asdict(row), **medians, "ratio": row.ratio, "reached": row.is_reached}
