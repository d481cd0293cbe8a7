"""Units as rows, of one host or of all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflashtui.model.host import LinkState
from dflashtui.model.unit import ActiveState
from dflashtui.text import printable
from dflashtui.tui import cells
from dflashtui.tui.details.service import phase_words
from dflashtui.tui.glyphs import State, unit_state
from dflashtui.tui.listing.table import Row
from dflashtui.tui.rows.words import ranges, unit_label
from dflashtui.tui.styled import EMPTY, Cell, cell, toned
from dflashtui.tui.subject import unit_subject

if TYPE_CHECKING:
    from datetime import datetime

    from dflashtui.model.host import HostSnapshot
    from dflashtui.model.unit import UnitStatus
    from dflashtui.tui.picture import Picture


def unit_rows(host: HostSnapshot, now: datetime) -> tuple[Row, ...]:
    """The watched units of one host."""
    return tuple(_row(host, unit, now, ()) for unit in host.units or ())


def no_unit_words(host: HostSnapshot) -> str:
    """Why a host shows no unit."""
    reason = next((source.problem for source in host.sources if source.source == "units" and source.problem), None)
    if reason:
        return printable(reason, limit=300)
    return "units not read yet" if host.units is None else 'no watched unit here – hosts.toml: units = ["…"]'


def service_rows(picture: Picture) -> tuple[Row, ...]:
    """The watched units of all hosts."""
    return tuple(
        _row(host, unit, picture.now, (cell(printable(host.name), "dim"),))
        for host in picture.hosts
        for unit in host.units or ()
    )


def _row(host: HostSnapshot, unit: UnitStatus, now: datetime, place: tuple[Cell, ...]) -> Row:
    state = unit_state(unit, now)
    values, orders = _values(host, unit, now), _sort_values(host, unit, now)
    if place:
        values, orders = (*values[:2], *load_cells(unit), *values[2:]), (*orders[:2], *load_orders(unit), *orders[2:])
    shown = (cell(unit_label(unit.name), "strong"), cell(state.word, _word_tone(state)), *values)
    if is_old(host, now):
        shown = tuple(toned(pieces, "stale") for pieces in shown)
    name = printable(unit.name)
    order: tuple[float | str | None, ...] = (name, float(state.rank), *orders)
    return Row(
        unit_subject(host.name, unit.name),
        (cell(state.glyph, state.role), *place, *shown),
        (None, *((host.name,) if place else ()), *order),
        text=f"{host.name} {name} {state.word} {printable(unit.description)}".lower(),
        problem=state.role in {"bad", "warn"} or bool(unit.needs_reload),
    )


def is_old(host: HostSnapshot, now: datetime) -> bool:
    """Whether values of this host must not look live."""
    return host.link.state is not LinkState.UP or cells.is_stale(host, now)


def _word_tone(state: State) -> str:
    return "dim" if state.role == "ok dim" else state.role


def _values(host: HostSnapshot, unit: UnitStatus, now: datetime) -> tuple[Cell, ...]:
    restarts = unit.n_restarts
    running = unit.active_state is not ActiveState.INACTIVE
    return (
        cells.span_since(unit.since if running else None, now),
        cell(gpus_of(host, unit.name) or "–", "" if gpus_of(host, unit.name) else "dim"),
        cells.bytes_cell(unit.memory_current_bytes),
        cells.number(unit.cpu_percent, "%"),
        cells.UNKNOWN if restarts is None else cell(str(restarts), "warn" if restarts else "dim"),
        _note(unit),
    )


def load_cells(unit: UnitStatus) -> tuple[Cell, Cell, Cell]:
    """`3+2` (they run, they wait), tokens a second, accept length."""
    load = unit.load
    if load is None:
        return cells.UNKNOWN, cells.UNKNOWN, cells.UNKNOWN
    waiting = f"+{load.queued}" if load.queued else ""
    requests: Cell = ((str(load.running), ""), (waiting, "warn")) if load.running is not None else cells.UNKNOWN
    speed, length = load.output_tokens_per_second, load.accept_length
    return (
        requests,
        cells.UNKNOWN if speed is None else cell(f"{speed:.0f}"),
        cells.UNKNOWN if length is None else cell(f"{length:.2f}"),
    )


def load_orders(unit: UnitStatus) -> tuple[float | None, float | None, float | None]:
    """By which the three are sorted."""
    load = unit.load
    if load is None:
        return None, None, None
    requests = None if load.running is None else float(load.running + (load.queued or 0))
    return requests, load.output_tokens_per_second, load.accept_length


def gpus_of(host: HostSnapshot, unit: str) -> str:
    """Indexes of the GPUs on which processes of a unit hold memory: `0-3`."""
    held = [gpu.index for gpu in host.gpus or () if any(process.unit == unit for process in gpu.processes or ())]
    return ranges(held)


def _note(unit: UnitStatus) -> Cell:
    if unit.needs_reload:
        return cell("daemon-reload needed", "warn")
    words = printable(unit.load_error or phase_words(unit) or unit.readiness_detail or unit.description, limit=200)
    return cell(words, "dim") if words else EMPTY


def _sort_values(host: HostSnapshot, unit: UnitStatus, now: datetime) -> tuple[float | str | None, ...]:
    since = (now - unit.since).total_seconds() if unit.since else None
    restarts = None if unit.n_restarts is None else float(unit.n_restarts)
    return since, gpus_of(host, unit.name) or None, unit.memory_current_bytes, unit.cpu_percent, restarts, None
