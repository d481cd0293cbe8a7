"""Whether a screen can be drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from textual.widget import Widget


def has_parts(widget: Widget) -> bool:
    """Whether what it was composed of is there: not before it is mounted, nor while the console is left.

    What goes on behind a screen may end, and tell it so, after its parts were taken away (`Widget.is_mounted` stays).
    """
    return widget.is_mounted and widget.is_attached
