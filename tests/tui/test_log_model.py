"""Following, moving, searching and filtering, without a widget."""

from __future__ import annotations

from datetime import UTC, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from dflashtui.model.journal import Priority
from dflashtui.tui.log.buffer import LIVE_LIMIT
from dflashtui.tui.log.intake import BATCH, Intake
from dflashtui.tui.log.model import LogModel
from dflashtui.tui.log.pattern import Pattern
from dflashtui.tui.log.record import record_of
from dflashtui.tui.log.times import Stamp, clock, since_start
from dflashtui.tui.log.times import gap as gap_words
from dflashtui.tui.log.title import empty_words, name_of, title
from dflashtui.tui.log.wrapping import rows_of
from tests.tui.log_items import START, TRACEBACK, entries, entry, gap, numbered

if TYPE_CHECKING:
    from collections.abc import Callable

    from dflashtui.model.journal import JournalItem


def shown(model: LogModel) -> list[str]:
    return [record.texts[0] for record in model.view.records]


def at_cursor(model: LogModel) -> str:
    assert model.cursor is not None
    return model.cursor.texts[0]


def only(model: LogModel, *words: str) -> None:
    model.narrow(model.filters.with_patterns([Pattern(one) for one in words]))


def is_consistent(model: LogModel) -> bool:
    """Whether rows, records, counts and order fit together."""
    view = model.view
    rows = [row.record for row in view.rows if row.is_first]
    ordered = all(left.seq < right.seq for left, right in pairwise(view.records))
    hits = sum(record.is_hit for record in view.records)
    return (
        rows == view.records
        and ordered
        and view.hit_count == hits
        and len(view.rows) == sum(record.row_count for record in view.records)
    )


def test_it_follows_until_a_person_moves_up() -> None:
    model = LogModel()
    model.append(numbered(10))
    assert at_cursor(model) == "line 9"
    model.step(-1)
    model.append([*numbered(4, first=10), *entries(TRACEBACK, 14)])
    assert at_cursor(model) == "line 8"
    assert (model.is_following, model.new_count, model.new_error_count) == (False, 8, 0)
    assert title("a@b", model, Stamp.CLOCK, "") == "log a@b · paused · 8 new"
    model.append([entry(20, "ERROR: bad")])
    assert title("a@b", model, Stamp.CLOCK, "") == "log a@b · paused · 9 new · 1 error"
    model.follow()
    assert at_cursor(model) == "ERROR: bad"
    assert title("a@b", model, Stamp.GAP, "no contact 3m") == "log a@b · following · gap · no contact 3m"


def test_a_filter_narrows_and_an_inverted_one_excludes() -> None:
    model = LogModel()
    model.append([*entries(["alpha", "beta", "Alphabet"]), gap(3)])
    only(model, "alpha")
    assert shown(model)[:2] == ["alpha", "Alphabet"]
    only(model, "!alpha")
    assert shown(model)[:1] == ["beta"]
    only(model, "Alpha")
    assert shown(model)[:1] == ["Alphabet"]
    assert "gap in the journal" in shown(model)[-1], "a gap is never filtered away"
    assert "&Alpha" in title("a@b", model, Stamp.CLOCK, "")
    assert "2 hidden" in title("a@b", model, Stamp.CLOCK, "")


def test_a_pattern_that_is_no_expression_is_plain_text() -> None:
    model = LogModel()
    model.append(entries(["a (b", "ab", "A (B"]))
    only(model, "(b")
    assert shown(model) == ["a (b", "A (B"]


def test_levels_hide_what_is_less_bad_and_keep_whole_tracebacks() -> None:
    model = LogModel()
    model.append([*entries(["quiet", *TRACEBACK]), entry(9, "odd", priority=Priority.WARNING)])
    for _ in range(4):
        model.show_level()
    assert model.filters.limit is Priority.ERR
    assert shown(model) == list(TRACEBACK)
    assert "errors" in title("a@b", model, Stamp.CLOCK, "")
    model.show_level()
    assert len(shown(model)) == 6


def test_an_empty_pane_says_what_hides_everything() -> None:
    model = LogModel()
    model.append(numbered(3))
    only(model, "foo")
    assert empty_words(model, "a@b", "") == "0 of 3 lines match &foo – escape clears"
    model.clear()
    assert empty_words(model, "a@b", "") == "no line of a@b so far"


def test_search_finds_newest_first_then_goes_round() -> None:
    model = LogModel()
    model.append(entries(["x 1", "y", "x 2", "y"]))
    model.search(Pattern("x"))
    assert model.view.hit_count == 2
    assert model.nearest_hit()
    assert at_cursor(model) == "x 2"
    model.next_hit(1)
    assert at_cursor(model) == "x 1"
    model.next_hit(-1)
    assert at_cursor(model) == "x 2"
    model.append(entries(["x 3"], 4))
    assert model.view.hit_count == 3
    model.search(Pattern("nothing"))
    assert not model.nearest_hit()
    assert at_cursor(model) == "x 2"


def test_the_next_error_is_the_start_of_a_traceback() -> None:
    model = LogModel()
    model.append(entries([*TRACEBACK, "fine", "ERROR: bad", "fine"]))
    model.next_error(-1)
    assert at_cursor(model) == "ERROR: bad"
    model.next_error(-1)
    assert at_cursor(model) == TRACEBACK[0]
    model.next_error(-1)
    assert at_cursor(model) == "ERROR: bad"
    model.next_error(1)
    assert at_cursor(model) == TRACEBACK[0]


def test_marks_are_found_again() -> None:
    model = LogModel()
    model.append(numbered(5))
    model.step(-3)
    model.mark()
    model.follow()
    assert model.next_mark()
    assert at_cursor(model) == "line 1"
    model.mark()
    assert not model.next_mark()


def test_what_is_read_stays_while_lines_come_and_is_trimmed_on_return() -> None:
    model = LogModel()
    model.append(numbered(LIVE_LIMIT))
    model.step(-LIVE_LIMIT)
    model.append(numbered(500, first=LIVE_LIMIT))
    assert at_cursor(model) == "line 0"
    assert model.rows_dropped == 0
    model.follow()
    assert len(model.view.records) == LIVE_LIMIT
    assert model.rows_dropped == 500
    assert is_consistent(model)


def test_a_filtered_last_line_that_repeats_stays_filtered() -> None:
    model = LogModel()
    only(model, "!noise")
    model.append(entries(["signal", "noise"]))
    model.append(entries(["noise", "noise", "signal"], 2))
    assert shown(model) == ["signal", "signal"]
    assert is_consistent(model)


WORDS = ["same", "ERROR: bad", "x" * 50, "日本語" * 9, "a: 10%| |", "a: 20%| |", *TRACEBACK]
STEPS: dict[str, Callable[[LogModel, int, tuple[JournalItem, ...]], object]] = {
    "append": lambda model, _amount, batch: model.append(batch),
    "prepend": lambda model, _amount, batch: model.prepend(batch),
    "narrow": lambda model, amount, _batch: only(model, *["!same"] * (amount % 2)),
    "search": lambda model, amount, _batch: model.search(Pattern("a") if amount % 2 else None),
    "follow": lambda model, _amount, _batch: model.follow(),
    "step": lambda model, amount, _batch: model.step(amount - 3),
    "level": lambda model, _amount, _batch: model.show_level(),
    "wrap": lambda model, amount, _batch: model.wrap(10 + amount, everything=bool(amount % 2)),
}


@given(st.lists(st.tuples(st.sampled_from(sorted(STEPS)), st.integers(0, 6))))
def test_rows_and_records_fit_together_whatever_happens(steps: list[tuple[str, int]]) -> None:
    model = LogModel()
    for number, (step, amount) in enumerate(steps):
        batch = entries((WORDS[(amount + place) % len(WORDS)] for place in range(amount)), 10 * number)
        STEPS[step](model, amount, batch)
        assert is_consistent(model)


@given(st.text(alphabet="ab 日語é\u0301", max_size=80), st.integers(2, 20))
def test_rows_hold_the_whole_text_and_fit(text: str, width: int) -> None:
    record = record_of(0, entry(0, text))
    rows = rows_of(record, width)
    pieces = [record.texts[row.line][row.start : row.end] for row in rows]
    assert "".join(pieces) == "".join(record.texts)
    assert all(cell_len(piece) <= width for piece in pieces)


def test_the_newest_lines_win_when_they_come_too_fast() -> None:
    intake = Intake()
    intake.put([(None, item) for item in numbered(LIVE_LIMIT + 5312)])
    count, at = intake.take_dropped()
    assert count == 5312
    assert at == START + timedelta(seconds=5311)
    batch = intake.take()
    assert (len(batch), batch[0][1].cursor) == (BATCH, "i=5312")
    assert intake.take_dropped() == (0, None)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.4821, "+0.482"), (70.24, "+1m10.2"), (7510, "+2h05m10"), (-1.5, "-1.500"), (90_000, "+1d01h")],
)
def test_spans_before_a_line(seconds: float, words: str) -> None:
    assert since_start(START + timedelta(seconds=seconds), START) == words
    assert gap_words(START + timedelta(seconds=seconds), START) == words


def test_the_clock_names_the_day_when_it_is_another() -> None:
    assert clock(START, START.date(), UTC) == "03:00:00.000"
    assert clock(START, (START + timedelta(days=1)).date(), UTC) == "12-01 03:00 "
    assert since_start(START, None) == "–"
    assert gap_words(START, None) == ""


def test_names_of_hosts_are_text() -> None:
    assert name_of("gpu[/x]\x1b]0;t\x07", "a.service") == "a@gpu[/x]"
