"""A comparison of environments in lines. Pure."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from rich.cells import cell_len

from dflashtui.mask import masked
from dflashtui.text import printable
from dflashtui.tui.details.parts import heading
from dflashtui.tui.styled import Cell, cell, cut, fitted, plain

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from dflashtui.model.comparison import Compared, Comparison, Remark
    from dflashtui.tui.compare.directions import Direction

TITLES = {
    "decisive": "decides whether it runs",
    "machine": "decides whether it runs",
    "cuda": "CUDA's packages",
    "setting": "settings",
    "package": "other packages",
    "file": "files",
}
NAME_WIDTH = 26
LEAST_COLUMN, MOST_COLUMN = 16, 44
GAP = 2
COLUMNS = 4
"""With more hosts, or less room, each answer names its hosts."""
ABSENT = "–"
LINE_LIMIT = 400


def page(comparison: Comparison, width: int, *, every: bool) -> tuple[Cell, ...]:
    """What differs, what decides first; `every`: what is equal, too."""
    rows = comparison.rows if every else comparison.differences
    unread = [_unread(one.host, one.message) for one in comparison.unread]
    if len(comparison.hosts) < 2:  # noqa: PLR2004 - nothing to compare
        return (cell("nothing to compare: fewer than two hosts could be read", "warn"), *unread)
    lines = _columns(comparison, rows, width) if _fits(comparison, width) else _blocks(rows, width)
    return (sum_line(comparison), *unread, *lines)


def sum_line(comparison: Comparison) -> Cell:
    """`7 differ, 2 of them fatal · 393 are the same`."""
    differing, same = len(comparison.differences), len(comparison.rows) - len(comparison.differences)
    fatal = sum(bool(row.fatal) for row in comparison.differences)
    if not differing:
        return (("● ", "ok"), (f"the same in all {same}", "ok"))
    glyph, tone = ("× ", "bad") if fatal else ("≠ ", "warn")
    words = f"{differing} differ{f', {fatal} of them fatal' if fatal else ''}"
    return ((glyph, tone), (words, tone), (f" · {same} are the same", "dim"))


def _unread(host: str, why: str) -> Cell:
    return (("◌ ", "warn"), (printable(host), "strong"), (f"  {_safe(why)}", "warn"))


def _fits(comparison: Comparison, width: int) -> bool:
    hosts = len(comparison.hosts)
    return hosts <= COLUMNS and NAME_WIDTH + GAP + hosts * (LEAST_COLUMN + GAP) <= width


def _columns(comparison: Comparison, rows: Sequence[Compared], width: int) -> Iterator[Cell]:
    hosts = comparison.hosts
    widths = _widths(hosts, rows, width)
    if rows:
        named = (fitted(cell(printable(host), "strong"), each) for host, each in zip(hosts, widths, strict=True))
        yield ((" " * (NAME_WIDTH + GAP), ""), *(piece for one in named for piece in (*one, (" " * GAP, ""))))
    told: set[Remark] = set()
    for title, some in groupby(rows, key=lambda row: TITLES[row.group]):
        yield from heading(title)
        for row in some:
            yield (*_name(row), *_answers(row, hosts, widths))
            yield from _remarks(row, told)


def _widths(hosts: Sequence[str], rows: Sequence[Compared], width: int) -> list[int]:
    """As wide as their answers, and together no wider than there is room."""
    room = (width - NAME_WIDTH - GAP) // len(hosts) - GAP
    most = max(LEAST_COLUMN, min(MOST_COLUMN, room))
    return [
        min(most, max(map(cell_len, (printable(host), *(_answer(row.on(host)) for row in rows))))) for host in hosts
    ]


def _name(row: Compared) -> Cell:
    mark = ("× ", "bad") if row.fatal else ("≠ ", "warn") if row.differs else ("  ", "")
    tone = "bad" if row.fatal else "" if row.differs else "dim"
    return (mark, *fitted(cell(printable(row.name), tone), NAME_WIDTH - 2), (" " * GAP, ""))


def _answers(row: Compared, hosts: Sequence[str], widths: Sequence[int]) -> Iterator[tuple[str, str]]:
    """What most hosts say is plain, the rest stands out."""
    usual = row.stands[0].value if row.stands and len(row.stands[0].hosts) > len(hosts) / 2 else None
    broken = {remark.host for remark in row.fatal}
    for host, width in zip(hosts, widths, strict=True):
        value = row.on(host)
        tone = (
            "bad"
            if host in broken
            else "dim"
            if not row.differs or value is None
            else ""
            if value == usual
            else "accent"
        )
        yield from (*fitted(cell(_answer(value), tone), width), (" " * GAP, ""))


def _blocks(rows: Sequence[Compared], width: int) -> Iterator[Cell]:
    """Each answer on a line of its own, with its hosts."""
    told: set[Remark] = set()
    for title, some in groupby(rows, key=lambda row: TITLES[row.group]):
        yield from heading(title)
        for row in some:
            yield from _block(row, width)
            yield from _remarks(row, told)


def _block(row: Compared, width: int) -> Iterator[Cell]:
    name = tuple(_name(row)[:1]) + cell(printable(row.name), "bad" if row.fatal else "" if row.differs else "dim")
    if not row.differs:
        value = row.stands[0].value if row.stands else None
        yield cut((*name, (f"  {_answer(value)}", "dim")), width)
        return
    yield name
    for stand in row.stands:
        hosts = " ".join(map(printable, stand.hosts))
        yield (("    ", ""), (_answer(stand.value), "dim" if stand.value is None else "accent"), (f"  {hosts}", "dim"))


def _remarks(row: Compared, told: set[Remark]) -> Iterator[Cell]:
    """Below the first of the rows that break a rule together."""
    for remark in row.fatal:
        if remark not in told:
            told.add(remark)
            yield (("      ", ""), (f"{printable(remark.host)}: {_safe(remark.message)}", "bad"))


def way_title(way: Direction) -> Cell:
    """`make gpu-b like gpu-a`."""
    return (("make ", ""), (printable(way.target), "strong"), (" like ", ""), (printable(way.source), "strong"))


def package_line(row: Compared, way: Direction, *, is_marked: bool) -> Cell:
    """`[x] ≠ torch   2.9.1 → 2.11.0`: as the target has it, and as it would have it."""
    here, there = _answer(row.on(way.target)), _answer(row.on(way.source))
    change: Cell = ((here, "dim"), (" → ", "dim"), (there, "accent")) if here != there else ((here, "dim"),)
    mark = ("[x] ", "accent") if is_marked else ("[ ] ", "dim")
    glyph = ("≠ ", "warn") if here != there else ("  ", "")
    return (mark, glyph, *fitted(cell(printable(row.name)), NAME_WIDTH), *change)


def copied(comparison: Comparison, *, every: bool) -> str:
    """The page as text, its columns as wide as their answers."""
    wide = NAME_WIDTH + GAP + COLUMNS * (MOST_COLUMN + GAP)
    return "\n".join(plain(line).rstrip() for line in page(comparison, wide, every=every))


def _answer(value: str | None) -> str:
    return _safe(value) if value is not None else ABSENT


def _safe(text: str) -> str:
    """A tab would move the cursor to a column that nobody counted."""
    return printable(masked(text), limit=LINE_LIMIT).replace("\t", " ")
