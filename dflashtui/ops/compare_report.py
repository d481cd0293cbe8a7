"""A comparison in words, and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dflashtui.text import printable, shortened

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from dflashtui.model.comparison import Compared, Comparison

COLUMNS = 3
"""With more hosts, each answer names its hosts."""
NAME_WIDTH, VALUE_WIDTH = 30, 44
RED, BOLD, PLAIN = "\x1b[31m", "\x1b[1m", "\x1b[0m"
ABSENT = "–"


def lines(comparison: Comparison, *, every: bool, colour: bool) -> list[str]:
    """What differs, a line each, `!` before what a rule calls fatal; `every`: what is equal, too."""
    rows = comparison.rows if every else comparison.differences
    said = [*_table(comparison, rows, colour=colour), *(_unread(one.host, one.message) for one in comparison.unread)]
    if len(comparison.hosts) > 1:
        said.append(_sum(comparison))
    return said


def _table(comparison: Comparison, rows: Sequence[Compared], *, colour: bool) -> Iterator[str]:
    if not rows or len(comparison.hosts) < 2:  # noqa: PLR2004 - nothing to compare
        return
    widths = _widths(comparison, rows)
    if len(comparison.hosts) <= COLUMNS:
        yield "  ".join(_padded(("", *comparison.hosts), widths)).rstrip()
    for row in rows:
        head = ("! " if row.fatal else "  ") + _line(row, comparison.hosts, widths)
        yield f"{RED}{BOLD}{head}{PLAIN}" if row.fatal and colour else head
        for remark in row.fatal:
            yield f"      {printable(remark.host)}: {printable(remark.message)}"


def _widths(comparison: Comparison, rows: Sequence[Compared]) -> list[int]:
    cells = [(row.name, *(row.on(host) or ABSENT for host in comparison.hosts)) for row in rows]
    columns = zip(("", *comparison.hosts), *cells, strict=True)
    limits = (NAME_WIDTH, *(VALUE_WIDTH for _ in comparison.hosts))
    return [min(limit, max(map(len, map(printable, cells)))) for limit, cells in zip(limits, columns, strict=True)]


def _line(row: Compared, hosts: Sequence[str], widths: Sequence[int]) -> str:
    if len(hosts) <= COLUMNS:
        return "  ".join(_padded((row.name, *(row.on(host) or ABSENT for host in hosts)), widths)).rstrip()
    answers = (f"{printable(stand.value or ABSENT)}: {' '.join(map(printable, stand.hosts))}" for stand in row.stands)
    return f"{_padded((row.name,), widths)[0]}  {' · '.join(answers)}"


def _padded(cells: Sequence[str], widths: Sequence[int]) -> list[str]:
    return [shortened(printable(cell), width).ljust(width) for cell, width in zip(cells, widths, strict=False)]


def _unread(host: str, why: str) -> str:
    return f"? {printable(host)}: {printable(why)}"


def _sum(comparison: Comparison) -> str:
    same, differing = len(comparison.rows) - len(comparison.differences), len(comparison.differences)
    fatal = sum(bool(row.fatal) for row in comparison.differences)
    told = f"{differing} differ, {fatal} of them fatal" if fatal else f"{differing} differ"
    return f"{told}, {same} are the same" if differing else f"the same in all {same}"


def document(comparison: Comparison, *, every: bool) -> dict[str, Any]:
    """The same as JSON; `differences` hold what is equal, too, if every row is wanted."""
    rows = comparison.rows if every else comparison.differences
    return {
        "schema": 1,
        "verdict": comparison.verdict,
        "hosts": list(comparison.hosts),
        "differences": [row.model_dump(mode="json") for row in rows],
        "same": len(comparison.rows) - len(comparison.differences),
        "unread": [remark.model_dump(mode="json") for remark in comparison.unread],
    }
