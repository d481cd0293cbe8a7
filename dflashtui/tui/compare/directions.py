"""Which host could be made like which, and in what. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from dflashtui.model.comparison import Compared, Comparison
    from dflashtui.tui.compare.pairing import Pairing

OF_PACKAGES = ("decisive", "cuda", "package")


class Direction(NamedTuple):
    """Packages of `target` become like those of `source`."""

    source: str
    target: str


def directions(
    pairing: Pairing, comparison: Comparison | None, may_change: Callable[[str], bool]
) -> tuple[Direction, ...]:
    """From the reference alone, where there is one that was read; else every way."""
    hosts = comparison.hosts if comparison is not None else ()
    sources = (pairing.reference,) if pairing.reference in hosts else hosts
    return tuple(
        Direction(str(source), target)
        for source in sources
        for target in hosts
        if target != source and may_change(target) and packages(comparison, Direction(str(source), target))
    )


def packages(comparison: Comparison | None, way: Direction) -> tuple[Compared, ...]:
    """Those of the source: first what the target has otherwise, then what is the same but for a patch, perhaps."""
    rows = comparison.rows if comparison is not None else ()
    there = [row for row in rows if row.group in OF_PACKAGES and row.on(way.source) is not None]
    return tuple(sorted(there, key=lambda row: not is_other(row, way)))


def is_other(row: Compared, way: Direction) -> bool:
    """Whether the two hosts give different answers."""
    return row.on(way.source) != row.on(way.target)
