"""Rows of GPUs, their processes, problems and events."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given

from dflashtui.model.event import Event, EventKind, Severity
from dflashtui.tui.picture import Problem
from dflashtui.tui.rows import tables
from dflashtui.tui.rows.fleet import note
from dflashtui.tui.rows.gpus import gpu_rows, holders, no_gpu_words, power, process_lines
from dflashtui.tui.rows.problems import event_rows, problem_rows, what_of
from dflashtui.tui.styled import plain
from dflashtui.tui.subject import Kind, Subject, gpu_subject, host_subject, unit_subject
from tests.tui.hostile import check_pieces, forbidden_in, hosts, patient, words_of
from tests.tui.stage import (
    CONNECTING,
    LOST_GPU,
    NO_GPU,
    NOW,
    READY,
    ago,
    gpu,
    host,
    process,
)

if TYPE_CHECKING:
    from dflashtui.model.host import HostSnapshot


def test_a_lost_gpu_shows_no_number() -> None:
    row = gpu_rows(LOST_GPU, NOW)[0]
    assert (plain(row.cells[0]), words_of(row, tables.GPUS, "meter")) == ("×", "lost")
    assert {words_of(row, tables.GPUS, name) for name in ("utilization", "memory", "temperature", "power")} == {"–"}
    assert row.problem


def test_why_there_is_no_gpu() -> None:
    assert no_gpu_words(NO_GPU) == "no NVIDIA driver: libnvidia-ml.so.1 is missing"
    assert no_gpu_words(CONNECTING) == "GPUs not read yet"
    assert no_gpu_words(host("h", gpus=())) == "no GPU on this host"


def test_power_without_a_limit() -> None:
    assert plain(power(gpu(0, power_watts=300.4, power_limit_watts=None))) == "300 W"
    assert plain(power(gpu(0, power_watts=None))) == "–"


def test_holders_are_units_by_name_and_others_by_pid() -> None:
    both = (process(1, READY.name), process(2, READY.name), process(3, None))
    assert holders(gpu(0, processes=both)) == "sglang-a, pid 3"
    assert holders(gpu(0, processes=None)) == ""


def test_processes_largest_first_and_orphans_say_so() -> None:
    both = gpu(0, processes=(process(1, None, 2), process(2, READY.name)))
    lines = [plain(line).split() for line in process_lines(both, 60)]
    assert lines[0::2] == [["2", "60.0", "GiB", "sglang-a"], ["1", "2.0", "GiB", "no", "unit"]]
    assert lines[1::2] == [["python", "-m", "sglang.launch_server"]] * 2
    assert plain(process_lines(gpu(0, processes=None), 60)[0]) == "processes could not be read"
    assert plain(process_lines(gpu(0, processes=()), 60)[0]) == "none"


@patient
@given(hosts)
def test_lines_about_processes_are_safe(found: HostSnapshot) -> None:
    assert not forbidden_in(no_gpu_words(found).replace("\t", " "))
    for one in found.gpus or ():
        for line in process_lines(one, 60):
            check_pieces(tuple((text.replace("\t", " "), tone) for text, tone in line))


def test_one_row_for_all_that_is_wrong_with_a_thing() -> None:
    subject = unit_subject("gpu07", "a.service")
    found = (
        Problem("bad", subject, "failed"),
        Problem("warn", host_subject("gpu07"), "skew"),
        Problem("warn", subject, "old"),
    )
    rows = problem_rows(found)
    assert [row.key for row in rows] == [subject, host_subject("gpu07")]
    assert [plain(pieces) for pieces in rows[0].cells] == ["×", "gpu07", "a", "failed · old"]


def test_problems_name_their_thing() -> None:
    assert plain(what_of(gpu_subject("h", 3))) == "GPU 3"
    assert plain(what_of(host_subject("h"))) == "host"
    assert plain(what_of(Subject(Kind.UNIT, "h", "x.socket"))) == "x.socket"


def test_the_note_of_a_host_says_the_worst_and_how_many_more() -> None:
    worst = Problem("bad", unit_subject("h", "a.service"), "failed")
    assert plain(note((worst, Problem("warn", gpu_subject("h", 1), "hot")))) == "2 problems: a failed"
    assert plain(note((Problem("warn", gpu_subject("h", 1), "hot"),))) == "GPU 1 hot"
    assert note(()) == ()


def test_an_event_keeps_its_number_when_older_ones_go() -> None:
    first, second = (Event(at=ago(9 - n), kind=EventKind.UNIT, severity=Severity.BAD, message=f"{n}") for n in range(2))
    assert [row.key.name for row in event_rows((first, second), 0)] == ["1", "0"]
    assert [row.key.name for row in event_rows((second,), 1)] == ["1"]
