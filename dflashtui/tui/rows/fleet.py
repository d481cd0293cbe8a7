"""Hosts as rows: one line packs one host."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflashtui.model.host import LinkState
from dflashtui.text import printable
from dflashtui.tui import cells
from dflashtui.tui.glyphs import link_state
from dflashtui.tui.listing.table import Row
from dflashtui.tui.picture import host_problems, ready_count, ready_now, services
from dflashtui.tui.rows.words import unit_label
from dflashtui.tui.styled import EMPTY, Cell, cell, join, plain, toned
from dflashtui.tui.subject import Kind, Subject, host_subject

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from dflashtui.model.host import HostSnapshot
    from dflashtui.tui.picture import Picture, Problem


def fleet_rows(picture: Picture) -> tuple[Row, ...]:
    """Hosts in the order of the inventory, under the titles of their groups where there are several."""
    groups = list(dict.fromkeys(host.group for host in picture.hosts))
    if len(groups) < 2:  # noqa: PLR2004 - one group needs no title
        return tuple(fleet_row(host, picture.now) for host in picture.hosts)
    rows: list[Row] = []
    for group in groups:
        members = [host for host in picture.hosts if host.group == group]
        rows += [group_row(group, members), *(fleet_row(host, picture.now) for host in members)]
    return tuple(rows)


def group_row(group: str | None, members: Sequence[HostSnapshot]) -> Row:
    """The title of a group, with what a closed group hides."""
    up = sum(host.link.state is LinkState.UP for host in members)
    ready, total = ready_now(members), sum(len(services(host)) for host in members)
    name = printable(group) if group else "no group"
    marks = " · protected" * members[0].protected + " · read-only" * members[0].read_only
    counted = f"{ready}/{total} ready" if total else "services –"
    words = f"  {up}/{len(members)} up · {counted}{marks}"
    return Row(Subject(Kind.GROUP, group or ""), (((name, "title"), (words, "dim")),), group=group, heading=True)


def fleet_row(host: HostSnapshot, now: datetime) -> Row:
    """One host."""
    state = link_state(host.link, now)
    found = host_problems(host, now)
    name = printable(host.name)
    shown = (
        cell(state.glyph, state.role),
        cell(name, "strong"),
        cell(state.word, "dim" if state.role == "ok" else state.role),
        *_values(host, now),
        note(found),
    )
    return Row(
        host_subject(host.name),
        shown,
        (None, name, float(state.rank), *_sort_values(host, now), None),
        text=" ".join((name, host.group or "", state.word, plain(shown[-1]))).lower(),
        group=host.group,
        problem=bool(found),
    )


def _values(host: HostSnapshot, now: datetime) -> tuple[Cell, ...]:
    """GPU cells, ready, memory, hottest, age; dimmed when they are old."""
    gpus = host.gpus or ()
    hottest = cells.hottest(gpus)
    shown = (
        cells.gpu_cells(gpus) if host.gpus else cells.UNKNOWN,
        _ready(host),
        cells.memory_of(gpus),
        cells.temperature(hottest) if hottest else cells.UNKNOWN,
    )
    if host.link.state is not LinkState.UP or cells.is_stale(host, now):
        shown = tuple(toned(pieces, "stale") for pieces in shown)  # type: ignore[assignment]
    return (*shown, cells.age_cell(host, now))


def _ready(host: HostSnapshot) -> Cell:
    ready, total = ready_count(host), len(services(host))
    return cells.count_of(ready, total, "" if ready == total else "warn")


def _sort_values(host: HostSnapshot, now: datetime) -> tuple[float | None, ...]:
    gpus = host.gpus or ()
    loads = [gpu.utilization_percent for gpu in gpus if gpu.utilization_percent is not None]
    used = [gpu.memory_used_bytes for gpu in gpus if gpu.memory_used_bytes is not None]
    hottest = cells.hottest(gpus)
    return (
        sum(loads) / len(loads) if loads else None,
        float(ready_count(host)) if services(host) else None,
        sum(used) if used else None,
        float(hottest.temperature_celsius or 0) if hottest else None,
        cells.age_seconds(host, now),
    )


def note(found: Sequence[Problem]) -> Cell:
    """The worst problem in words, and how many more there are."""
    if not found:
        return EMPTY
    worst = found[0]
    where = {Kind.UNIT: unit_label(worst.subject.name), Kind.GPU: f"GPU {worst.subject.name}"}.get(
        worst.subject.kind, ""
    )
    words = cell(" ".join(filter(None, (where, worst.words))), worst.role)
    return join((cell(f"{len(found)} problems", worst.role) if len(found) > 1 else EMPTY, words), ": ")
