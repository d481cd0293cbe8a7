"""Values over time as columns of blocks, on a fixed scale from 0 to 100. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

EIGHTHS = " ▁▂▃▄▅▆▇█"


def columns(values: Sequence[float | None], width: int) -> tuple[float | None, ...]:
    """The newest `width` values, at the right; what came before the first one is unknown."""
    newest = tuple(values[-width:]) if width > 0 else ()
    return (*(None,) * (width - len(newest)), *newest)


def plot(values: Sequence[float | None], width: int, height: int) -> tuple[str, ...]:
    """`height` lines of `width` characters, top first.

    0 is a thin line, so that it differs from unknown, which is blank.
    """
    shown = columns(values, width)
    return tuple("".join(_block(value, row, height) for value in shown) for row in range(height - 1, -1, -1))


def _block(value: float | None, row: int, height: int) -> str:
    if value is None:
        return " "
    eighths = round(max(0.0, min(value, 100.0)) * height * 8 / 100) - row * 8
    if row == 0:
        eighths = max(eighths, 1)
    return EIGHTHS[max(0, min(eighths, 8))]
