"""Lines without an invocation id: whose they are."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from dflashtui.model.journal import JournalEntry
from dflashtui.source.journal_adopt import adopted, has_own_lines
from tests.faults.marks import fault

START = datetime(2026, 12, 1, tzinfo=UTC)


def entry(seconds: float, message: str, run: str | None = None, *, manager: bool = False) -> JournalEntry:
    return JournalEntry(
        cursor=f"c{seconds}",
        at=START + timedelta(seconds=seconds),
        message=message,
        from_manager=manager,
        invocation_id=run,
    )


BEFORE = (entry(0, "Starting", "one", manager=True), entry(1, "said", "one"), entry(2, "failed", "one", manager=True))
RUN = (entry(10, "Starting", "two", manager=True), entry(10.2, "Main process exited", "two", manager=True))
AFTER = (entry(20, "Starting", "three", manager=True),)


def messages(*orphans: JournalEntry) -> list[str]:
    of_unit = sorted((*BEFORE, *RUN, *AFTER, *orphans), key=lambda item: item.at)
    return [item.message for item in adopted(RUN, of_unit, "two") if isinstance(item, JournalEntry)]


def test_the_lines_of_its_time_are_the_runs() -> None:
    found = messages(entry(10.1, "Traceback"), entry(10.3, "ValueError"))
    assert found == ["Starting", "Traceback", "Main process exited", "ValueError"]


def test_they_carry_the_runs_id() -> None:
    found = adopted(RUN, (*RUN, entry(10.1, "Traceback")), "two")
    assert {item.invocation_id for item in found if isinstance(item, JournalEntry)} == {"two"}


def test_lines_that_came_in_just_before_the_managers_word_are_its_too() -> None:
    assert messages(entry(9.5, "early")) == ["early", "Starting", "Main process exited"]


def test_lines_of_other_times_are_not() -> None:
    assert messages(entry(1.5, "of the first"), entry(5, "between"), entry(20.1, "of the third")) == [
        "Starting",
        "Main process exited",
    ]


@fault("B14", how="the host's clock is set in the middle of a run", result="its lines stay its own, in their order")
@pytest.mark.parametrize("step", [-3600.0, 3600.0])
def test_a_clock_that_is_set_takes_no_line_away_and_changes_no_order(step: float) -> None:
    start, end = RUN
    lines = (
        booted(9.9, "before the clock was set", 0),
        start.model_copy(update={"monotonic_usec": 10_000_000, "boot_id": "b"}),
        booted(10.1, "Traceback", step),
        booted(10.15, "ValueError", step),
        booted(10.2, end.message, step, "two", manager=True),
        booted(20, "Starting", step, "three", manager=True),
        booted(20.1, "of the third", step),
    )
    run = (lines[1], lines[4])
    found = [item.message for item in adopted(run, lines, "two") if isinstance(item, JournalEntry)]
    assert found == ["before the clock was set", "Starting", "Traceback", "ValueError", "Main process exited"]


def booted(
    seconds: float, message: str, clock_off: float, run: str | None = None, *, manager: bool = False
) -> JournalEntry:
    """An entry whose place is told by its cursor and by the clock of the boot."""
    written = entry(seconds + clock_off, message, run, manager=manager)
    place = {"cursor": f"b{seconds}", "monotonic_usec": int(seconds * 1e6), "boot_id": "b"}
    return written.model_copy(update=place)


def test_what_is_older_than_all_that_is_known_of_the_unit_stays_the_first() -> None:
    of_unit = (RUN[1], entry(10.3, "ValueError"))
    assert [item.message for item in adopted(RUN, of_unit, "two") if isinstance(item, JournalEntry)] == [
        "Starting",
        "Main process exited",
        "ValueError",
    ]


def test_a_run_of_which_nothing_is_known_adopts_nothing() -> None:
    assert adopted((), (entry(1, "whose"),), "two") == ()


def test_what_the_service_said_is_told_from_what_the_manager_said() -> None:
    assert has_own_lines(BEFORE)
    assert not has_own_lines(RUN)
