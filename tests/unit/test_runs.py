"""The runs of a unit, and what two of them have in common."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from dflashtui.model.journal import JournalEntry
from dflashtui.ops.runs import DEACTIVATED, EXITED, FAILED, STARTED, UNTOLD, compared, runs_of, without_numbers
from dflashtui.tui.journal.runs import run_words

START = datetime(2026, 12, 1, 3, 0, tzinfo=UTC)


def said(second: int, message: str, mark: str | None = None, run: str = "a") -> JournalEntry:
    return JournalEntry(
        cursor=f"i={second}", at=START + timedelta(seconds=second), message=message,
        invocation_id=run * 32, message_id=mark, from_manager=mark is not None,
    )  # fmt: skip


def test_runs_are_read_off_what_the_manager_said() -> None:
    found = runs_of(
        [
            said(0, "Started x.service.", STARTED, "a"),
            said(1, "Started by me", None, "f"),
            said(9, "x.service: Main process exited, code=exited, status=1/FAILURE", EXITED, "a"),
            said(9, "x.service: Failed with result 'exit-code'.", FAILED, "a"),
            said(20, "Started x.service.", STARTED, "b"),
            said(60, "x.service: Deactivated successfully.", DEACTIVATED, "b"),
            said(70, "Started x.service.", STARTED, "c"),
        ]
    )
    assert [(run.invocation_id[0], run.result, run.status, run.is_good) for run in found] == [
        ("c", None, None, True),
        ("b", "success", None, True),
        ("a", "exit-code", "exited 1/FAILURE", False),
    ]
    assert found[2].ended_at == START + timedelta(seconds=9)


def test_a_run_that_its_host_took_down_with_it_does_not_go_on_for_ever() -> None:
    newest, older = runs_of([said(0, "Started x.", STARTED, "a"), said(90, "Started x.", STARTED, "b")])
    assert (older.result, older.is_good) == (UNTOLD, True)
    now = START + timedelta(hours=9)
    assert [run_words(run, now) for run in (newest, older)] == ["for 8h58m, goes on", "its end was not told"]
    assert runs_of([]) == ()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("[2026-12-01 03:00:09 TP0] mem usage=51.11 GB", "[2026-12-03 11:10:59 TP3] mem usage=8 GB"),
        ("at 0x7f3a9c0 in <object at 0xdeadbeef>", "at 0x1 in <object at 0x22>"),
        ("run 0123456789abcdef0123456789abcdef ended", "run fedcba9876543210fedcba9876543210 ended"),
        ("GPU-1b2c3d4e-1111-2222-3333-444455556666", "GPU-ffffffff-0000-aaaa-bbbb-cccccccccccc"),
        ("\x1b[32mINFO\x1b[0m 03:00:01.5", "INFO 3:00"),
    ],
)
def test_numbers_addresses_ids_and_times_do_not_count(one: str, other: str) -> None:
    assert without_numbers(one) == without_numbers(other)


def test_two_runs_part_at_the_first_line_that_the_good_one_did_not_have() -> None:
    good = [said(0, "load 1/4"), said(1, "load 4/4"), said(2, "capture graphs 12 s"), said(3, "ready")]
    bad = [said(0, "load 2/4", run="b"), said(4, "ERROR: no memory", run="b"), said(5, "ERROR: no memory", run="b")]
    found = compared(bad, good)
    assert [entry.message for entry in found.new] == ["ERROR: no memory"]
    assert [entry.message for entry in found.missing] == ["capture graphs 12 s", "ready"]
    assert (found.last_common, found.part_at) == (bad[0], bad[1])
    assert found.expected == good[2]


def test_equal_runs_part_nowhere_and_empty_ones_do_no_harm() -> None:
    lines = [said(0, "one"), said(1, "two")]
    assert compared(lines, lines).part_at is None
    assert compared(lines, []).part_at == lines[0]
    assert compared([], lines).missing == tuple(lines)
