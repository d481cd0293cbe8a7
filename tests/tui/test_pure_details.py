"""Details: lines of facts that keep to their pane, whatever the hosts say."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from dflashtui.model.gpu import Gpu, Xid
from dflashtui.model.host import HostSnapshot, Link, LinkState
from dflashtui.model.unit import UnitStatus
from dflashtui.text import printable
from dflashtui.tui.details.gpu import gpu_lines, xid_in_words
from dflashtui.tui.details.host import ADVICE, host_lines, link_trouble
from dflashtui.tui.details.parts import fact, facts, folded, foreign, heading, moment, wrapped
from dflashtui.tui.details.unit import unit_lines
from dflashtui.tui.history import History
from dflashtui.tui.styled import EMPTY, cell, measured, plain
from tests.tui.hostile import check_lines, forbidden_in, gpus, hosts, patient, texts, units
from tests.tui.stage import DENIED, FAILED, GIB, HOSTKEY, LIVE, LOST, NO_GPU, NOW, READY, ago, gpu, host, process, unit

if TYPE_CHECKING:
    from collections.abc import Iterable

    from dflashtui.tui.styled import Cell


PANES = st.integers(20, 300)
"""A detail pane is never narrower."""


def told(lines: Iterable[Cell]) -> str:
    """The lines as text."""
    return "\n".join(plain(line).rstrip() for line in lines)


def fact_of(lines: Iterable[Cell], label: str) -> str | None:
    """What a labelled line says."""
    return next((plain(line[1:]) for line in lines if line and line[0][0].rstrip() == label), None)


@patient
@given(gpus, PANES)
def test_a_gpu_keeps_to_its_pane(found: Gpu, width: int) -> None:
    history = History()
    history.note(host("h", gpus=(found,)))
    check_lines(folded(gpu_lines(found, history.of("h", found.index), NOW, width), width), width)


@patient
@given(hosts, units, PANES)
def test_a_unit_keeps_to_its_pane(found: HostSnapshot, one: UnitStatus, width: int) -> None:
    check_lines(folded(unit_lines(found, one, NOW, width), width), width)


@patient
@given(hosts, PANES)
def test_a_host_keeps_to_its_pane(found: HostSnapshot, width: int) -> None:
    check_lines(folded(host_lines(found, NOW, width), width), width)


@patient
@given(texts, PANES)
def test_folding_loses_nothing_but_blanks(value: str, width: int) -> None:
    line = fact("label", foreign(value) or cell("–"))
    parts = folded([line], width)
    check_lines(parts, width)
    assert _letters(parts) == _letters([line])


def _letters(lines: Iterable[Cell]) -> str:
    """What is seen; a mark that has nothing to stand on may go."""
    return "".join(char for line in lines for char in plain(line) if not char.isspace() and cell_len(char))


@patient
@given(texts, PANES)
def test_wrapping_breaks_at_blanks(text: str, width: int) -> None:
    lines = [plain(line) for line in wrapped(text, width)]
    assert all(cell_len(line) <= width or " " not in line for line in lines)
    assert not any(forbidden_in(line) for line in lines)
    assert " ".join(lines).split() == printable(text).split()


def test_what_goes_on_stands_under_its_value() -> None:
    parts = folded([fact("path", cell("a " * 40))], 60)
    assert [plain(part)[:14] for part in parts] == ["path          ", " " * 14]
    assert all(measured(part) <= 60 for part in parts)


def test_a_word_longer_than_the_line_is_cut() -> None:
    assert [plain(part) for part in folded([cell(""), (("", ""), ("x" * 25, ""))], 10)] == [
        "",
        "x" * 10,
        "x" * 10,
        "x" * 5,
    ]


def test_facts_without_a_value_are_left_out() -> None:
    assert told(facts(("a", None), ("b", cell("x")))) == "b             x"
    assert foreign(None) is None
    assert foreign("") is None


def test_a_heading_has_a_blank_line_before_it() -> None:
    assert heading("x") == (EMPTY, cell("x", "title"))


def test_a_moment_of_another_day_says_which() -> None:
    assert moment(None, NOW) is None
    assert plain(moment(ago(200), NOW) or ()) == "02:56:40 · 3m20s ago"
    assert plain(moment(NOW - timedelta(days=1), NOW) or ()) == "2026-11-30 03:00:00 · 1d ago"


def test_unknown_values_of_a_gpu_are_not_zero() -> None:
    lines = gpu_lines(Gpu(index=3), (), NOW, 80)
    assert "unknown model" in told(lines)
    for label in ("clocks", "ECC", "row remaps", "MIG", "bus", "UUID"):
        assert fact_of(lines, label) == "–", label
    for label in ("utilization", "memory", "power", "temperature"):
        said = fact_of(lines, label)
        assert said is not None
        assert said.strip("─ ") == "–", label
    assert "0" not in told(line for line in lines if line and line[0][0].rstrip() in {"ECC", "memory", "power"})
    assert "processes could not be read" in told(lines)
    assert "begins with the first sample" in told(lines)


def test_known_values_of_a_gpu() -> None:
    lines = gpu_lines(gpu(1, memory_reserved_bytes=GIB, fan_percent=30), (), NOW, 80)
    assert fact_of(lines, "utilization") == "━━──────────────  10 %  memory bus 40 %"
    assert fact_of(lines, "memory") == "━───────────────  11.0 GiB of 140 GiB"
    assert fact_of(lines, "driver keeps") == "1.0 GiB"
    assert fact_of(lines, "clocks") == "SM 1980/1980 MHz · memory 3201 MHz"
    assert fact_of(lines, "lowered by") == "nothing"
    assert fact_of(lines, "fan") == "30 %"
    assert fact_of(lines, "ECC") == "0 uncorrected"


def test_an_xid_says_what_it_means_and_what_to_do() -> None:
    xid = Xid(pci_bus_id="0", xid=79, at=ago(90), pid=7, process_name="python3", message="GPU has fallen off")
    said = told(gpu_lines(gpu(0, last_xid=xid), (), NOW, 200))
    assert "Xid 79  1m30s ago · pid 7 python3" in said
    assert "reboot the host" in said
    assert "Xid catalog" in xid_in_words(9999)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"remapped_rows_failed": True}, "replace the GPU"),
        ({"remapped_rows_pending": True}, "reset the GPU"),
        ({"remapped_rows_uncorrectable": 2}, "2 after uncorrectable errors"),
    ],
)
def test_remapped_rows(values: dict[str, object], words: str) -> None:
    assert words in (fact_of(gpu_lines(gpu(0, **values), (), NOW, 80), "row remaps") or "")


def test_history_is_drawn_with_its_span() -> None:
    history = History()
    for seconds in (60, 0):
        history.note(host("h", gpus=(gpu(0, utilization_percent=100),), gpus_at=ago(seconds)))
    lines = gpu_lines(gpu(0), history.of("h", 0), NOW, 40)
    assert "utilization  0–100 %, last 1m" in told(lines)
    assert sum(plain(line).endswith("██") for line in lines) == 3


def test_a_unit_that_was_never_started() -> None:
    lines = unit_lines(host("h"), UnitStatus(name="x.service"), NOW, 80)
    for label in ("main pid", "memory", "GPUs", "path"):
        assert fact_of(lines, label) == "–", label
    assert (fact_of(lines, "CPU") or "").strip() == "–"
    assert fact_of(lines, "restarts") is None
    assert "last exit" not in told(lines)


def test_a_failed_unit_tells_its_last_exit() -> None:
    lines = unit_lines(host("h"), FAILED, NOW, 80)
    assert told(lines).startswith("× broken  failed (137, killed)")
    assert fact_of(lines, "result") == "signal"
    assert fact_of(lines, "main process") == "killed by signal 9"


def test_a_running_unit() -> None:
    held = host("h", gpus=(gpu(0, processes=(process(1, READY.name),)),))
    lines = unit_lines(
        held, READY.model_copy(update={"memory_max_bytes": 64 * GIB, "cpu_usage_nsec": 10**9 * 90}), NOW, 80
    )
    assert fact_of(lines, "state") == "active (running)"
    assert fact_of(lines, "ready") == "ready  GET /health 200"
    assert fact_of(lines, "memory") == "12.0 GiB of 64.0 GiB"
    assert fact_of(lines, "CPU") == "140 %  1m30s in all"
    assert fact_of(lines, "GPUs") == "0"


def test_files_of_a_unit() -> None:
    one = unit("a.service", drop_in_paths=("/etc/a.conf", "/etc/b.conf"), needs_reload=True)
    said = told(unit_lines(host("h"), one, NOW, 200))
    assert "drop-in       /etc/a.conf\n              /etc/b.conf" in said
    assert "daemon-reload" in said


def test_a_host_that_is_up_has_no_trouble() -> None:
    assert link_trouble(LIVE.link, NOW, 80) == ()
    assert fact_of(host_lines(LIVE, NOW, 80), "round trip") == "1.2 ms"


@pytest.mark.parametrize("state", [state for state in LinkState if state not in {LinkState.UP, LinkState.CONNECTING}])
def test_every_trouble_says_what_to_do(state: LinkState) -> None:
    assert state in ADVICE
    said = told(link_trouble(Link(state=state, error="the reason"), NOW, 300))
    assert "the reason" in said
    assert ADVICE[state] in said


def test_when_the_next_attempt_is_due() -> None:
    assert "Attempt 4; next in 9s." in told(link_trouble(LOST.link, NOW, 80))
    assert "no reason was given" in told(link_trouble(Link(state=LinkState.UNREACHABLE), NOW, 80))
    assert "Attempt" not in told(link_trouble(DENIED.link, NOW, 80))


def test_an_unknown_host_key_shows_fingerprints_and_the_whole_line() -> None:
    lines = link_trouble(HOSTKEY.link, NOW, 30)
    assert HOSTKEY.link.fingerprints[0] in told(lines)
    assert (HOSTKEY.link.known_hosts_line or "?") in told(lines).replace("\n", "")


def test_a_host_never_seen_says_so() -> None:
    assert fact_of(host_lines(HostSnapshot(name="new"), NOW, 80), "last seen") == "–"
    assert "no NVIDIA driver" in told(host_lines(NO_GPU, NOW, 80))
