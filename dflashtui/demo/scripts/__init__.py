"""What the engines print, as text: one line each, `SHARE LINE` or `NAME LINE` (inference-engines, part 2).

`SHARE`: of the time from the start until ready; `%bar N TITLE` stands for a progress bar of N steps, written over
itself with carriage returns.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files


@cache
def table(name: str) -> tuple[tuple[str, str], ...]:
    """The lines of a file, split at their first blank."""
    text = files(__name__).joinpath(f"{name}.txt").read_text(encoding="utf-8")
    return tuple((key, line) for key, _, line in (row.partition(" ") for row in text.splitlines()))


@cache
def lines(name: str) -> dict[str, str]:
    """The lines of a file by their names."""
    return dict(table(name))
