from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from dflashtui.model.journal import JournalEntry, JournalGap
from dflashtui.source.journal_lag import BEHIND_SECONDS, FLOOD_LINES, Lag
from dflashtui.source.journal_reading import OVERRUN
from tests.faults.marks import fault

AT = datetime(2026, 12, 1, tzinfo=UTC)
A, B = "a.service", "b.service"


def entry(seconds: float, unit: str = A, *, clock_off: float = 0.0, boot: str = "b") -> JournalEntry:
    at = AT + timedelta(seconds=seconds + clock_off)
    usec = int((1000 + seconds) * 1e6)
    return JournalEntry(cursor=f"{seconds}", at=at, unit=unit, monotonic_usec=usec, boot_id=boot)


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


@fault("B14", how="the host's clock is set back an hour, forward, and again", result="no lag, nobody is blamed")
@pytest.mark.parametrize("steps", [(0.0, -3600.0), (0.0, 3600.0, 0.0), (-86400.0 * 400, 0.0), (0.0, -1.5, 86400.0)])
def test_a_clock_that_is_set_is_no_lag(steps: tuple[float, ...]) -> None:
    lag = Lag()
    for place, clock_off in enumerate(steps):
        for second in range(place * 10, place * 10 + 10):
            lag.note([entry(second, clock_off=clock_off)] * FLOOD_LINES, 5.0 + second)
            assert lag.seconds == 0
    assert lag.flooding_unit is None


def test_a_clock_that_was_set_hides_no_lag_that_comes_later() -> None:
    lag = Lag()
    lag.note([entry(0)], 0.0)
    lag.note([entry(1, clock_off=-3600.0)], 1.0)
    lag.note([entry(2, clock_off=-3600.0)] * FLOOD_LINES, 2.0 + BEHIND_SECONDS)
    assert lag.seconds == BEHIND_SECONDS
    assert lag.flooding_unit == A


def test_a_host_that_was_asleep_is_not_behind_for_good() -> None:
    lag = Lag()
    lag.note([entry(0)], 0.0)
    lag.note([entry(1, clock_off=600.0)] * FLOOD_LINES, 601.0)
    assert lag.flooding_unit is None


def test_another_boot_is_measured_anew() -> None:
    lag = Lag()
    lag.note([entry(5000)], 0.0)
    lag.note([entry(1, boot="c")] * FLOOD_LINES, 1.0)
    assert (lag.seconds, lag.flooding_unit) == (0, None)
