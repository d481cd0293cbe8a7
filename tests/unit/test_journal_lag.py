from __future__ import annotations

from datetime import UTC, datetime, timedelta

from dflashtui.model.journal import JournalEntry, JournalGap
from dflashtui.source.journal_lag import BEHIND_SECONDS, FLOOD_LINES, Lag
from dflashtui.source.journal_reading import OVERRUN

AT = datetime(2026, 12, 1, tzinfo=UTC)
A, B = "a.service", "b.service"


def entry(seconds: float, unit: str = A) -> JournalEntry:
    return JournalEntry(cursor=f"{seconds}", at=AT + timedelta(seconds=seconds), unit=unit)


def test_clocks_that_differ_are_no_lag() -> None:
    lag = Lag()
    for second in range(100):
        lag.note([entry(second + 3600)], 5.0 + second)
    assert lag.seconds == 0
    assert lag.flooding_unit is None


def test_a_backlog_that_is_being_worked_off_is_no_lag() -> None:
    lag = Lag()
    for step in range(100):
        lag.note([entry(step * 10.0)] * 200, 1000.0 + step)
    assert lag.flooding_unit is None


def test_the_unit_that_wrote_most_is_to_blame() -> None:
    lag = Lag()
    lag.note([entry(0, B)], 0.0)
    lag.note([entry(1, B)] * 10, BEHIND_SECONDS)
    lag.note([entry(1)] * FLOOD_LINES, BEHIND_SECONDS + 1)
    assert lag.seconds == BEHIND_SECONDS
    assert lag.flooding_unit == A


def test_a_few_late_lines_blame_nobody() -> None:
    lag = Lag()
    lag.note([entry(0)], 0.0)
    lag.note([entry(1)] * 10, 60.0)
    assert lag.flooding_unit is None


def test_lines_left_out_count_too() -> None:
    lag = Lag()
    lag.note([entry(0)], 0.0)
    gap = JournalGap(at=AT, reason=OVERRUN, unit=A, entries_lost=FLOOD_LINES)
    lag.note([gap, entry(1)], 60.0)
    assert lag.flooding_unit == A
