"""Names as they are shown. Pure."""

from __future__ import annotations

from dflashtui.text import printable


def unit_label(name: str) -> str:
    """A unit's name without `.service`, which goes without saying; other types keep theirs."""
    return printable(name.removesuffix(".service"))


def ranges(indexes: list[int]) -> str:
    """`0-3,6` for GPU indexes."""
    parts: list[list[int]] = []
    for index in sorted(indexes):
        if parts and index == parts[-1][-1] + 1:
            parts[-1].append(index)
        else:
            parts.append([index])
    return ",".join(str(part[0]) if len(part) == 1 else f"{part[0]}-{part[-1]}" for part in parts)
