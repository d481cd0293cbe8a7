"""One unit in detail."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflashtui.model.unit import Readiness
from dflashtui.text import human_bytes, human_span, printable
from dflashtui.tui import cells
from dflashtui.tui.details.parts import facts, foreign, heading, moment, wrapped
from dflashtui.tui.glyphs import unit_state
from dflashtui.tui.rows.units import gpus_of
from dflashtui.tui.rows.words import unit_label
from dflashtui.tui.styled import EMPTY, Cell, cell

if TYPE_CHECKING:
    from datetime import datetime

    from dflashtui.model.host import HostSnapshot
    from dflashtui.model.unit import UnitStatus

CODES = {0: "none", 1: "exited", 2: "killed by signal", 3: "dumped core, signal"}
NANOSECONDS = 1e9


def unit_lines(
    host: HostSnapshot, unit: UnitStatus, now: datetime, width: int, figures: tuple[Cell, ...] = ()
) -> tuple[Cell, ...]:
    """Everything the snapshot knows about a unit, for a pane of `width` cells; `figures`: of its service."""
    state = unit_state(unit, now)
    title: Cell = (
        (f"{state.glyph} ", state.role),
        (unit_label(unit.name), "title"),
        ("  ", ""),
        (state.word, state.role),
    )
    return (
        title,
        *wrapped(unit.description, width, "dim"),
        *(wrapped(unit.load_error, width, "bad") if unit.load_error else ()),
        EMPTY,
        *_run(unit, now),
        *_costs(host, unit),
        *_last_exit(unit),
        *figures,
        *_files(unit),
    )


def _run(unit: UnitStatus, now: datetime) -> tuple[Cell, ...]:
    due = (unit.next_restart_at - now).total_seconds() if unit.next_restart_at else None
    return facts(
        ("state", cell(f"{unit.active_state.value} ({printable(unit.sub_state)})")),
        ("ready", _readiness(unit, now)),
        ("since", moment(unit.since, now)),
        ("started", moment(unit.started_at, now)),
        ("next start", None if due is None else cell(f"in {human_span(due)}", "warn")),
        (
            "restarts",
            None if unit.n_restarts is None else cell(str(unit.n_restarts), "warn" if unit.n_restarts else "dim"),
        ),
        ("main pid", cells.UNKNOWN if unit.main_pid is None else cell(str(unit.main_pid))),
        ("run", None if unit.invocation_id is None else cell(printable(unit.invocation_id, limit=40), "dim")),
    )


def _readiness(unit: UnitStatus, now: datetime) -> Cell | None:
    if unit.readiness is Readiness.NONE:
        return None
    tone = {Readiness.READY: "ok", Readiness.LOADING: "busy", Readiness.SICK: "warn", Readiness.FAILED: "bad"}.get(
        unit.readiness, "dim"
    )
    detail = f"  {printable(unit.readiness_detail)}" if unit.readiness_detail else ""
    age = f" · {human_span((now - unit.readiness_at).total_seconds())} ago" if unit.readiness_at else ""
    return ((unit.readiness.value, tone), (detail + age, "dim"))


def _costs(host: HostSnapshot, unit: UnitStatus) -> tuple[Cell, ...]:
    most = f" of {human_bytes(unit.memory_max_bytes)}" if unit.memory_max_bytes else ""
    memory: Cell = ((human_bytes(unit.memory_current_bytes), ""), (most, "dim"))
    spent = None if unit.cpu_usage_nsec is None else human_span(unit.cpu_usage_nsec / NANOSECONDS)
    cpu = (*cells.number(unit.cpu_percent, "%"), (f"  {spent} in all" if spent else "", "dim"))
    held = gpus_of(host, unit.name)
    return facts(
        ("memory", memory if unit.memory_current_bytes is not None else cells.UNKNOWN),
        ("CPU", cpu),
        ("tasks", None if unit.tasks_current is None else cell(str(unit.tasks_current))),
        ("GPUs", cell(held) if held else cells.UNKNOWN),
    )


def _last_exit(unit: UnitStatus) -> tuple[Cell, ...]:
    if unit.exec_main_code in {None, 0}:
        return ()
    code = CODES.get(unit.exec_main_code or 0, str(unit.exec_main_code))
    status = "–" if unit.exec_main_status is None else str(unit.exec_main_status)
    clean = unit.result in {None, "success"}
    return (
        *heading("last exit"),
        *facts(
            ("result", foreign(unit.result, "dim" if clean else "bad")),
            ("main process", cell(f"{code} {status}", "dim" if clean else "bad")),
        ),
    )


def _files(unit: UnitStatus) -> tuple[Cell, ...]:
    reload = cell("the file on disk is not what the manager has loaded: daemon-reload", "warn")
    drop_ins = [("drop-in" if place == 0 else "", foreign(path)) for place, path in enumerate(unit.drop_in_paths)]
    return (
        *heading("unit file"),
        *facts(
            ("path", foreign(unit.fragment_path) or cells.UNKNOWN),
            *drop_ins,
            ("loaded", cell(unit.load_state.value, "dim")),
            ("enabled", foreign(unit.unit_file_state, "dim")),
            ("on disk", reload if unit.needs_reload else None),
            ("control group", foreign(unit.control_group, "dim")),
        ),
    )
