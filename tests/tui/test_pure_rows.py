"""Rows of every list: one line, exact to the cell, whatever the hosts say."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dflashtui.model.event import Event, EventKind, Severity
from dflashtui.model.host import HostSnapshot, Link, LinkState
from dflashtui.model.unit import LoadState, UnitStatus
from dflashtui.tui.picture import Picture, problems
from dflashtui.tui.rows import tables
from dflashtui.tui.rows.fleet import fleet_row, fleet_rows, group_row
from dflashtui.tui.rows.gpus import all_gpu_rows, gpu_rows
from dflashtui.tui.rows.problems import event_rows, problem_rows
from dflashtui.tui.rows.units import gpus_of, is_old, service_rows, unit_rows
from dflashtui.tui.rows.words import ranges, unit_label
from dflashtui.tui.styled import plain
from dflashtui.tui.subject import gpu_subject, host_subject, unit_subject
from tests.tui.hostile import WIDTHS, check_row, drawn, events, forbidden_in, hosts, patient, words_of
from tests.tui.stage import (
    CONNECTING,
    FAILED,
    GIB,
    LIVE,
    LOST,
    LOST_GPU,
    NOW,
    READY,
    STALE,
    gpu,
    host,
    process,
    unit,
)

if TYPE_CHECKING:
    from dflashtui.tui.listing.table import Table

GROUP_OF_TWO = (LIVE, host("h-other", group="other"))
UNKNOWN_UNIT = UnitStatus(name="x.service")


@patient
@given(st.lists(hosts, max_size=3).map(tuple), WIDTHS)
def test_hosts_are_drawn_exactly(found: tuple[HostSnapshot, ...], width: int) -> None:
    for row in fleet_rows(Picture(NOW, found)):
        check_row(row, tables.FLEET, width)


@patient
@given(hosts, WIDTHS)
def test_units_and_gpus_are_drawn_exactly(found: HostSnapshot, width: int) -> None:
    picture = Picture(NOW, (found,))
    shown = (
        (tables.UNITS, unit_rows(found, NOW)),
        (tables.SERVICES, service_rows(picture)),
        (tables.GPUS, gpu_rows(found, NOW)),
        (tables.ALL_GPUS, all_gpu_rows(picture)),
        (tables.PROBLEMS, problem_rows(problems(picture))),
    )
    for table, rows in shown:
        for row in rows:
            check_row(row, table, width)


@patient
@given(st.lists(events, max_size=3).map(tuple), WIDTHS)
def test_events_are_drawn_exactly(found: tuple[Event, ...], width: int) -> None:
    rows = event_rows(found, 7)
    assert [row.key.name for row in rows] == [str(7 + place) for place in reversed(range(len(found)))]
    for row in rows:
        check_row(row, tables.EVENTS, width)


@pytest.mark.parametrize("width", [1, 2, 4, 20, 40, 80, 300])
@pytest.mark.parametrize("table", [tables.FLEET, tables.UNITS, tables.GPUS, tables.PROBLEMS, tables.EVENTS])
def test_even_the_narrowest_list_shows_the_glyph(table: Table, width: int) -> None:
    rows = {
        tables.FLEET: fleet_rows(Picture(NOW, (LIVE,))),
        tables.UNITS: unit_rows(LIVE, NOW),
        tables.GPUS: gpu_rows(LIVE, NOW),
        tables.PROBLEMS: problem_rows(problems(Picture(NOW, (LOST_GPU,)))),
        tables.EVENTS: event_rows((Event(at=NOW, kind=EventKind.UNIT, severity=Severity.OK, message="x"),), 0),
    }[table]
    assert len(drawn(rows[0], table, width).text) == width
    assert width < 4 or plain(rows[0].cells[0]) in drawn(rows[0], table, width).text


def test_unknown_is_never_zero() -> None:
    never_seen = HostSnapshot(name="new", link=Link(state=LinkState.UP))
    row = fleet_row(never_seen, NOW)
    for name in ("gpus", "ready", "memory", "hottest", "age"):
        assert words_of(row, tables.FLEET, name) == "–"
    (row,) = unit_rows(host("h", units=(UNKNOWN_UNIT,)), NOW)
    for name in ("since", "gpus", "memory", "cpu", "restarts"):
        assert words_of(row, tables.UNITS, name) == "–"
    (row,) = gpu_rows(host("h", gpus=(gpu(0).model_copy(update=dict.fromkeys(GPU_VALUES)),)), NOW)
    for name in ("utilization", "memory", "temperature", "power", "units"):
        assert words_of(row, tables.GPUS, name) == "–"


GPU_VALUES = (
    "utilization_percent", "memory_used_bytes", "memory_total_bytes", "power_watts", "temperature_celsius", "processes",
)  # fmt: skip


def test_unknown_sorts_as_unknown() -> None:
    row = fleet_row(HostSnapshot(name="new"), NOW)
    unknown = {"gpus", "ready", "memory", "hottest", "age"}
    values = {column.id: value for column, value in zip(tables.FLEET.columns, row.values, strict=True)}
    assert {name for name in unknown if values[name] is not None} == set()
    blind = host("h", gpus=(gpu(0, memory_used_bytes=None, utilization_percent=None, temperature_celsius=None),))
    values = {
        column.id: value for column, value in zip(tables.FLEET.columns, fleet_row(blind, NOW).values, strict=True)
    }
    assert (values["gpus"], values["memory"], values["hottest"]) == (None, None, None)


def test_zero_is_a_measurement() -> None:
    (row,) = gpu_rows(host("h", gpus=(gpu(0, utilization_percent=0, memory_used_bytes=0, power_watts=0.0),)), NOW)
    assert words_of(row, tables.GPUS, "utilization") == "0 %"
    assert words_of(row, tables.GPUS, "memory") == "0/140 GiB"
    assert words_of(row, tables.GPUS, "power") == "0/700 W"
    (row,) = unit_rows(host("h", units=(unit("a.service", n_restarts=0, cpu_percent=0.0),)), NOW)
    assert (words_of(row, tables.UNITS, "restarts"), words_of(row, tables.UNITS, "cpu")) == ("0", "0 %")


def test_a_row_is_known_by_what_it_is_about() -> None:
    assert fleet_row(LIVE, NOW).key == host_subject("h-live")
    assert next(row.key for row in unit_rows(LIVE, NOW)) == unit_subject("h-live", READY.name)
    assert [row.key for row in gpu_rows(LIVE, NOW)] == [gpu_subject("h-live", index) for index in range(8)]
    names = [row.key for row in service_rows(Picture(NOW, (LIVE, STALE)))]
    assert len(set(names)) == len(names) == 6


def test_a_hostile_name_is_shown_harmless_and_kept_whole_as_identity() -> None:
    name = "a\x1b[2J[/x]b.service"
    (row,) = unit_rows(host("h", units=(unit(name),)), NOW)
    assert row.key == unit_subject("h", name)
    assert words_of(row, tables.UNITS, "unit") == "a[/x]b"


def test_groups_have_titles_when_there_are_several() -> None:
    rows = fleet_rows(Picture(NOW, GROUP_OF_TWO))
    assert [(row.heading, row.group) for row in rows] == [
        (True, "lab"), (False, "lab"), (True, "other"), (False, "other"),
    ]  # fmt: skip
    assert not any(row.heading for row in fleet_rows(Picture(NOW, (LIVE, STALE))))


def test_the_title_of_a_group_says_what_a_closed_group_hides() -> None:
    row = group_row("prod", [host("a", group="prod", protected=True, read_only=True), LOST])
    assert plain(row.cells[0]) == "prod  1/2 up · 1/4 ready · protected · read-only"
    assert plain(group_row(None, [LIVE]).cells[0]).startswith("no group  1/1 up")


def test_a_group_of_which_nothing_is_known_does_not_count_zero() -> None:
    assert plain(group_row("prod", [CONNECTING]).cells[0]) == "prod  0/1 up · services –"


def test_values_of_a_lost_or_old_host_do_not_look_live() -> None:
    for one in (LOST, STALE):
        row = fleet_row(one, NOW)
        assert {tone for pieces in row.cells[3:7] for _, tone in pieces} == {"stale"}
        assert is_old(one, NOW)
        assert {tone for row in unit_rows(one, NOW) for pieces in row.cells[1:] for _, tone in pieces} <= {"stale"}
        assert {tone for row in gpu_rows(one, NOW) for pieces in row.cells[1:] for _, tone in pieces} <= {"stale"}
        assert plain(fleet_row(one, NOW).cells[7]) in {"45s", "3m10s"}
    assert not is_old(LIVE, NOW)
    assert plain(fleet_row(LIVE, NOW).cells[7]) == "live"


def test_the_glyph_and_word_of_an_old_row_stay() -> None:
    (row, *_) = unit_rows(STALE, NOW)
    assert (plain(row.cells[0]), words_of(row, tables.UNITS, "state")) == ("●", "ready")


def test_a_failed_unit_is_a_problem_and_says_how() -> None:
    (row,) = unit_rows(host("h", units=(FAILED,)), NOW)
    assert row.problem
    assert words_of(row, tables.UNITS, "state") == "failed (137, killed)"
    (row,) = unit_rows(host("h", units=(unit("a.service", needs_reload=True),)), NOW)
    assert row.problem
    assert words_of(row, tables.UNITS, "note") == "daemon-reload needed"


def test_a_unit_names_the_gpus_that_it_holds() -> None:
    held = tuple(gpu(index, processes=(process(1, READY.name),)) for index in (0, 1, 2, 6))
    found = host("h", gpus=held)
    assert gpus_of(found, READY.name) == "0-2,6"
    assert words_of(unit_rows(found, NOW)[0], tables.UNITS, "gpus") == "0-2,6"


def test_what_a_filter_finds() -> None:
    (row, *_) = unit_rows(LIVE, NOW)
    assert {"h-live", "sglang-a.service", "ready"} <= set(row.text.split())
    assert row.text == row.text.lower()
    (row, *_) = gpu_rows(LIVE, NOW)
    assert {"h-live", "gpu0", "sglang-a", "h200"} <= set(row.text.split())


def test_words() -> None:
    assert unit_label("sglang@a.service") == "sglang@a"
    assert unit_label("x.socket") == "x.socket"
    assert ranges([]) == ""
    assert ranges([7, 0, 1, 2, 4]) == "0-2,4,7"


def test_a_masked_unit_is_told_by_its_load_state() -> None:
    (row,) = unit_rows(
        host("h", units=(UnitStatus(name="x", active_state="inactive", load_state=LoadState.MASKED),)), NOW
    )
    assert words_of(row, tables.UNITS, "state") == "masked"


def test_columns_that_sort_have_letters_of_their_own() -> None:
    for table in (
        tables.FLEET,
        tables.UNITS,
        tables.SERVICES,
        tables.GPUS,
        tables.ALL_GPUS,
        tables.PROBLEMS,
        tables.EVENTS,
    ):
        letters = [column.letter for column in table.columns if column.letter]
        assert len(set(letters)) == len(letters)
        assert table.empty
        assert not forbidden_in(table.empty)


def test_memory_of_a_host_is_the_sum_of_what_can_be_read() -> None:
    row = fleet_row(host("h", gpus=(gpu(0, memory_used_bytes=10 * GIB), gpu(1, memory_used_bytes=None))), NOW)
    assert words_of(row, tables.FLEET, "memory") == "10/280 GiB"
