"""Glyph, word and role of every state (console conventions, part 4), and what is wrong with a GPU."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given

from dflashtui.model.gpu import Gpu, Xid
from dflashtui.model.host import Link, LinkState
from dflashtui.model.rules import ORPHAN_FROM_BYTES
from dflashtui.model.unit import ActiveState, LoadState, Readiness, UnitStatus
from dflashtui.tui.ascii import GLYPHS
from dflashtui.tui.glyphs import LINKS, State, failure_in_brackets, gpu_state, link_state, unit_state
from dflashtui.tui.gpu_health import (
    THROTTLES,
    gpu_faults,
    gpu_warnings,
    health_role,
    is_hot,
    is_used,
    orphan_in_words,
    orphans,
)
from dflashtui.tui.styled import STYLES
from tests.tui.hostile import forbidden_in, gpus, links, patient, units
from tests.tui.stage import FAILED, GIB, LOADING, NOW, READY, STOPPED, ago, gpu, process, unit

if TYPE_CHECKING:
    from dflashtui.model.gpu import GpuProcess

STATE_GLYPHS = "●◐↻▲×○◌⊘"
BY_RANK = ("bad", "warn", "stale", "busy", "ok", "ok dim", "off")


def check_state(state: State) -> None:
    assert state.glyph in STATE_GLYPHS
    assert state.glyph in GLYPHS
    assert state.word.strip(), "colour and glyph only repeat a word"
    assert not forbidden_in(state.word.replace("\t", " "))
    assert set(state.role.split()) <= set(STYLES)
    assert BY_RANK[state.rank] == state.role


@patient
@given(units)
def test_every_unit_has_glyph_word_and_role(found: UnitStatus) -> None:
    check_state(unit_state(found, NOW))


@patient
@given(links)
def test_every_link_has_glyph_word_and_role(found: Link) -> None:
    check_state(link_state(found, NOW))


@patient
@given(gpus)
def test_every_gpu_has_glyph_word_and_role(found: Gpu) -> None:
    check_state(gpu_state(found))
    words = (*gpu_faults(found), *gpu_warnings(found))
    assert all(words)
    assert not any(forbidden_in(word.replace("\t", " ")) for word in words)
    assert (health_role(found) == "bad") == bool(gpu_faults(found))


LOOP = unit("x", active_state=ActiveState.ACTIVATING, sub_state="auto-restart", n_restarts=4)


@pytest.mark.parametrize(
    ("found", "shown"),
    [
        (READY, ("●", "ready", "ok")),
        (unit("x", readiness=Readiness.NONE), ("●", "active", "ok dim")),
        (unit("x", readiness=Readiness.UNKNOWN), ("●", "active", "ok dim")),
        (unit("x", readiness=Readiness.NONE, sub_state="exited"), ("●", "exited", "ok dim")),
        (LOADING, ("◐", "loading 1m10s", "busy")),
        (unit("x", readiness=Readiness.SICK), ("▲", "sick", "warn")),
        (unit("x", readiness=Readiness.FAILED), ("▲", "not answering", "warn")),
        (LOOP, ("▲", "looping 4×", "bad")),
        (LOOP.model_copy(update={"n_restarts": None}), ("▲", "looping", "bad")),
        (FAILED, ("×", "failed (137, killed)", "bad")),
        (STOPPED, ("○", "inactive", "off")),
        (unit("x", active_state=ActiveState.RELOADING), ("↻", "reloading", "busy")),
        (unit("x", active_state=ActiveState.REFRESHING), ("↻", "refreshing", "busy")),
        (unit("x", active_state=ActiveState.DEACTIVATING, since=ago(9)), ("◐", "stopping 9s", "busy")),
        (unit("x", active_state=ActiveState.ACTIVATING, started_at=ago(70)), ("◐", "starting 1m10s", "busy")),
        (unit("x", active_state=ActiveState.MAINTENANCE), ("▲", "maintenance", "warn")),
        (unit("x", active_state=ActiveState.INACTIVE, load_state=LoadState.NOT_FOUND), ("◌", "not found", "warn")),
        (unit("x", active_state=ActiveState.INACTIVE, load_state=LoadState.BAD_SETTING), ("◌", "bad setting", "warn")),
        (unit("x", active_state="something new"), ("◌", "unknown", "warn")),
        (UnitStatus(name="x"), ("◌", "unknown", "warn")),
    ],
)
def test_units(found: UnitStatus, shown: tuple[str, str, str]) -> None:
    assert unit_state(found, NOW)[:3] == shown


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"result": "exit-code", "exec_main_code": 1, "exec_main_status": 1}, " (1)"),
        ({"result": "signal", "exec_main_code": 2, "exec_main_status": 15}, " (143, killed)"),
        ({"result": "core-dump", "exec_main_code": 3, "exec_main_status": 11}, " (139, core dumped)"),
        ({"result": "oom-kill", "exec_main_code": 2, "exec_main_status": 9}, " (oom-kill)"),
        ({"result": "timeout"}, " (timeout)"),
        ({"result": "exit-code", "exec_main_code": None, "exec_main_status": None}, ""),
        ({"result": None, "exec_main_code": 2, "exec_main_status": None}, ""),
    ],
)
def test_how_a_unit_failed(values: dict[str, object], words: str) -> None:
    assert failure_in_brackets(unit("x", **values)) == words


def test_every_link_state_is_known() -> None:
    assert {*LINKS, LinkState.CONNECTING} == set(LinkState)


@pytest.mark.parametrize(
    ("found", "shown"),
    [
        (Link(state=LinkState.UP, since=ago(9)), ("●", "up", "ok")),
        (Link(state=LinkState.UNREACHABLE, since=ago(185)), ("⊘", "no contact 3m05s", "stale")),
        (Link(state=LinkState.UNREACHABLE), ("⊘", "no contact", "stale")),
        (Link(step="handshake", since=ago(1)), ("◐", "connecting", "busy")),
        (Link(step="handshake", since=ago(7)), ("◐", "handshake 7s", "busy")),
        (Link(), ("◐", "connecting", "busy")),
        (Link(state=LinkState.HOSTKEY_CHANGED), ("×", "host key changed", "bad")),
    ],
)
def test_links(found: Link, shown: tuple[str, str, str]) -> None:
    assert link_state(found, NOW)[:3] == shown


XID = Xid(pci_bus_id="0", xid=79, at=NOW)


@pytest.mark.parametrize(
    ("found", "shown"),
    [
        (gpu(0, lost="gone", last_xid=XID), ("×", "lost", "bad")),
        (gpu(0, last_xid=XID), ("×", "Xid 79", "bad")),
        (gpu(0, remapped_rows_failed=True), ("×", "row remap failed", "bad")),
        (gpu(0, remapped_rows_pending=True), ("▲", "row remap pending", "warn")),
        (gpu(0, ecc_uncorrected_count=2), ("×", "2 uncorrected ECC", "bad")),
        (gpu(0, temperature_celsius=86), ("▲", "hot, 86 °C", "warn")),
        (gpu(0, clocks_event_reasons=("sw_power_cap", "hw_slowdown")), ("▲", "slowed by hardware", "warn")),
        (gpu(0, processes=(process(1, "a.service"),)), ("●", "in use", "ok")),
        (gpu(0, utilization_percent=3), ("●", "in use", "ok")),
        (gpu(0), ("○", "idle", "off")),
        (Gpu(index=0), ("◌", "unknown", "warn")),
    ],
)
def test_gpus(found: Gpu, shown: tuple[str, str, str]) -> None:
    assert gpu_state(found)[:3] == shown


def test_memory_in_use_is_no_alarm() -> None:
    full = gpu(0, memory_used_bytes=139 * GIB, processes=(process(1, "a.service", 139),))
    assert gpu_warnings(full) == gpu_faults(full) == ()


@pytest.mark.parametrize("reason", ["gpu_idle", "sw_power_cap", "applications_clocks_setting", "unheard_of"])
def test_everyday_clock_reasons_are_no_alarm(reason: str) -> None:
    assert reason not in THROTTLES
    assert gpu_warnings(gpu(0, clocks_event_reasons=(reason,))) == ()


def test_hot_is_judged_by_the_cards_own_limit() -> None:
    assert is_hot(gpu(0, temperature_celsius=85, temperature_slowdown_celsius=87))
    assert not is_hot(gpu(0, temperature_celsius=84, temperature_slowdown_celsius=87))
    assert not is_hot(gpu(0, temperature_celsius=120, temperature_slowdown_celsius=None))
    assert not is_hot(gpu(0, temperature_celsius=None))


@pytest.mark.parametrize(
    ("held", "count"),
    [
        (process(1, None, 9), 1),
        (process(1, "a.service", 9), 0),
        (process(1, None).model_copy(update={"memory_used_bytes": ORPHAN_FROM_BYTES - 1}), 0),
        (process(1, None).model_copy(update={"memory_used_bytes": None}), 0),
    ],
)
def test_an_orphan_holds_memory_for_no_unit(held: GpuProcess, count: int) -> None:
    assert len(orphans(gpu(0, processes=(held,)))) == count
    assert orphans(gpu(0, processes=None)) == ()


def test_an_orphan_is_told_with_its_pid_and_command() -> None:
    held = process(4711, None, 12, "python3\x1b[2J" + "x" * 100)
    words = orphan_in_words(held)
    assert words.startswith("12.0 GiB held by pid 4711 (python3x")
    assert words.endswith("…), no unit")
    assert not forbidden_in(words)
    assert orphan_in_words(process(1, None, 1).model_copy(update={"command": None})) == "1.0 GiB held by pid 1, no unit"


def test_the_worst_fault_comes_first() -> None:
    both = gpu(0, lost="gone", last_xid=XID, remapped_rows_failed=True)
    assert gpu_faults(both) == ("lost", "Xid 79", "row remap failed")
    assert health_role(both) == "bad"
    assert health_role(gpu(0, temperature_celsius=90)) == "warn"
    assert (health_role(gpu(1)), health_role(gpu(0))) == ("ok", "off")
    assert not is_used(gpu(0))
