"""Quantities: each has its unit, unknown is `–` and never 0; values over time keep to their columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dflashtui.tui import cells
from dflashtui.tui.cells import UNKNOWN
from dflashtui.tui.history import History, percent
from dflashtui.tui.plot import EIGHTHS, columns, plot
from dflashtui.tui.styled import EMPTY, measured, plain
from tests.tui.hostile import check_pieces, maybe, patient
from tests.tui.stage import GIB, LIVE, LOST, NOW, STALE, ago, gpu, host

if TYPE_CHECKING:
    from dflashtui.model.gpu import Gpu
    from dflashtui.tui.styled import Cell

percents = st.none() | st.floats(-50, 500)


@pytest.mark.parametrize(
    "shown",
    [
        cells.number(None, "%"),
        cells.bytes_cell(None),
        cells.share(None, 10),
        cells.share(10, None),
        cells.memory_of(()),
        cells.memory_of((gpu(0, memory_used_bytes=None),)),
        cells.count_of(0, 0),
        cells.span_since(None, NOW),
        cells.temperature(gpu(0, temperature_celsius=None)),
        cells.age_cell(host("h", observed_at=None), NOW),
        cells.optional(None),
    ],
)
def test_unknown_is_a_dash(shown: Cell) -> None:
    assert shown == UNKNOWN
    assert plain(shown) == "–"


@pytest.mark.parametrize(
    ("shown", "words"),
    [
        (cells.number(0, "%"), "0 %"),
        (cells.number(62.4, "%"), "62 %"),
        (cells.number(1.25, "ms", digits=1), "1.2 ms"),
        (cells.bytes_cell(0), "0 B"),
        (cells.bytes_cell(54 * GIB), "54.0 GiB"),
        (cells.share(0, 140 * GIB), "0/140 GiB"),
        (cells.count_of(0, 5), "0/5"),
        (cells.span_since(ago(200), NOW), "3m20s"),
        (cells.temperature(gpu(0, temperature_celsius=0)), "0 °C"),
        (cells.optional("a\x1b[2Jb"), "ab"),
    ],
)
def test_known_values_have_their_unit(shown: Cell, words: str) -> None:
    assert plain(shown) == words


def test_nothing_to_say_is_not_unknown() -> None:
    assert cells.optional("") == EMPTY


@patient
@given(maybe)
def test_optional_text_is_safe(text: str | None) -> None:
    check_pieces(tuple((words.replace("\t", " "), tone) for words, tone in cells.optional(text)))


@patient
@given(percents)
def test_one_character_for_one_value(value: float | None) -> None:
    shown = cells.fill(value)
    assert (shown == "?") == (value is None)
    assert shown in f"?{cells.FILLS}"


def test_fill_grows_with_the_value() -> None:
    assert [cells.fill(value) for value in (0, 12, 13, 50, 99, 100)] == ["▁", "▁", "▂", "▅", "█", "█"]


@patient
@given(percents, st.integers(0, 300))
def test_a_meter_is_as_wide_as_asked(value: float | None, width: int) -> None:
    shown = cells.meter(value, width, "ok")
    assert measured(shown) == width
    assert value is not None or cells.BAR not in plain(shown)


def test_a_meter_runs_from_zero_to_a_hundred() -> None:
    assert [plain(cells.meter(value, 4, "ok")) for value in (0, 50, 100)] == ["────", "━━──", "━━━━"]


@patient
@given(st.lists(st.sampled_from([gpu(0), gpu(9), gpu(1, lost="gone"), gpu(2, utilization_percent=None)]), max_size=17))
def test_gpus_in_groups_of_four(found: list[Gpu]) -> None:
    shown = cells.gpu_cells(found)
    check_pieces(shown)
    assert measured(shown) == len(found) + max(0, (len(found) - 1) // 4)


def test_a_lost_gpu_and_an_unread_one_differ() -> None:
    found = (gpu(0, lost="gone"), gpu(1, utilization_percent=None), gpu(2, utilization_percent=0))
    assert plain(cells.gpu_cells(found)) == "×?▁"


def test_the_hottest_is_of_those_that_are_known() -> None:
    warm, cold = gpu(0, temperature_celsius=60), gpu(1, temperature_celsius=-2)
    assert cells.hottest((cold, warm, gpu(2, temperature_celsius=None))) == warm
    assert cells.hottest((cold,)) == cold
    assert cells.hottest((gpu(2, temperature_celsius=None),)) is None


def test_old_values_show_their_age() -> None:
    assert plain(cells.age_cell(LIVE, NOW)) == "live"
    assert (cells.age_cell(STALE, NOW), cells.age_cell(LOST, NOW)) == ((("45s", "stale"),), (("3m10s", "stale"),))
    assert (cells.is_stale(LIVE, NOW), cells.is_stale(STALE, NOW)) == (False, True)
    assert not cells.is_stale(host("h", observed_at=None), NOW)


def test_a_clock_that_runs_ahead_makes_no_negative_age() -> None:
    assert cells.age_seconds(host("h", observed_at=ago(-30)), NOW) == 0


@patient
@given(st.lists(percents, max_size=400), st.integers(0, 300), st.integers(0, 20))
def test_a_plot_is_exact(values: list[float | None], width: int, height: int) -> None:
    drawn = plot(values, width, height)
    assert len(drawn) == height
    assert all(len(line) == width and set(line) <= set(EIGHTHS) for line in drawn)


@patient
@given(st.floats(0, 100), st.floats(0, 100), st.integers(1, 20))
def test_a_larger_value_is_never_drawn_lower(one: float, other: float, height: int) -> None:
    low, high = (sum(EIGHTHS.index(line) for line in plot([value], 1, height)) for value in sorted((one, other)))
    assert low <= high


def test_zero_is_a_thin_line_and_unknown_is_blank() -> None:
    assert plot([None, 0, 50, 100, 1000], 5, 2) == ("   ██", " ▁███")


def test_the_newest_values_stand_at_the_right() -> None:
    assert columns([1, 2, 3], 2) == (2, 3)
    assert columns([1, 2], 4) == (None, None, 1, 2)
    assert columns([1, 2], 0) == ()


def test_history_keeps_the_newest_samples_of_each_gpu() -> None:
    history = History(kept=2)
    for seconds in (30, 20, 10):
        history.note(host("h", gpus=(gpu(0, utilization_percent=seconds), gpu(1)), gpus_at=ago(seconds)))
    history.note(host("other", gpus=(gpu(0, utilization_percent=99),), gpus_at=ago(5)))
    assert [sample.utilization for sample in history.of("h", 0)] == [20, 10]
    assert [sample.utilization for sample in history.of("other", 0)] == [99]
    assert history.of("nobody", 0) == ()


def test_history_takes_a_snapshot_once_and_never_an_older_one() -> None:
    history = History()
    for seconds in (10, 10, 20):
        history.note(host("h", gpus=(gpu(0),), gpus_at=ago(seconds)))
    history.note(host("h", gpus_at=None))
    history.note(host("h", gpus=None))
    assert [sample.at for sample in history.of("h", 0)] == [ago(10)]


def test_what_was_unknown_stays_unknown_in_history() -> None:
    history = History()
    blind = gpu(0, utilization_percent=None, memory_total_bytes=None, power_limit_watts=None)
    history.note(host("h", gpus=(blind,)))
    (sample,) = history.of("h", 0)
    assert sample[1:] == (None, None, None)


def test_percent_of_nothing_is_unknown() -> None:
    assert (percent(1, 0), percent(1, None), percent(None, 1)) == (None, None, None)
    assert (percent(0, 4), percent(1, 4)) == (0, 25)
