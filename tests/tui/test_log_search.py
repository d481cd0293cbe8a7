"""Searches, filters, processes and blocks, without a widget."""

from __future__ import annotations

import signal
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dflashtui.model.journal import Priority
from dflashtui.tui.log.filters import NO_NAME, Filters
from dflashtui.tui.log.guard import TooSlow, bounded
from dflashtui.tui.log.model import LogModel
from dflashtui.tui.log.pattern import LINES_IN_A_PIECE, Pattern
from dflashtui.tui.log.record import record_of
from tests.faults.marks import fault
from tests.tui.log_items import TRACEBACK, entries, entry, gap

HOSTILE = "(a+)+$"
RANKS = [
    "[2026-12-01 03:00:00 TP0] Load weight begin.",
    "[2026-12-01 03:00:00 TP3] Load weight begin.",
    "(EngineCore_DP0 pid=77) INFO 12-01 03:00:01 [core.py:9] ready",
    "INFO:     Uvicorn running",
]


def shown(model: LogModel) -> list[str]:
    return [record.texts[0] for record in model.view.records]


def model_of(messages: list[str]) -> LogModel:
    model = LogModel()
    model.append(entries(messages))
    return model


@given(
    st.lists(st.text(alphabet="aAbİß 1\n日", max_size=8), max_size=30),
    st.sampled_from(["a", "A", "!a", "a b", r"a\s*b", "[^b]", "^a", "b$", r"\d", "İ", "i", "ss", "x|1", "(", "a.b"]),
)
def test_searching_all_lines_as_one_text_finds_what_searching_each_finds(texts: list[str], words: str) -> None:
    records = [record_of(place, entry(place, text)) for place, text in enumerate(texts)]
    pattern = Pattern(words)
    assert list(pattern.matching(records)) == [pattern.matches(record) for record in records]


def test_matches_beyond_a_piece_are_found_too() -> None:
    records = [record_of(place, entry(place, "x" if place % 1000 else "hit")) for place in range(LINES_IN_A_PIECE + 2)]
    assert [place for place, found in enumerate(Pattern("h.t").matching(records)) if found] == list(
        range(0, 5002, 1000)
    )


@fault("I9", how="an expression that blows up", result="stopped in time, and said")
@fault("H9", how="an expression that blows up", result="the event loop goes on within a bound")
def test_an_expression_that_would_blow_up_is_stopped_and_said() -> None:
    model = model_of(["a" * 40 + "b"])
    began = process_time()
    model.search(Pattern(HOSTILE))
    model.narrow(model.filters.with_patterns([Pattern(HOSTILE)]))
    assert process_time() - began < 2
    assert model.view.trouble == "the filter took too long and was dropped"
    assert shown(model) == ["a" * 40 + "b"]
    assert Pattern(HOSTILE).places("a" * 40 + "b") == []
    assert signal.getitimer(signal.ITIMER_VIRTUAL) == (0.0, 0.0)


def test_a_search_that_is_stopped_says_so_and_new_lines_are_drawn() -> None:
    model = model_of(["short"])
    model.search(Pattern(HOSTILE))
    model.append([entry(5, "a" * 40 + "b")])
    assert model.view.query is None
    assert model.view.trouble == "the search took too long and was dropped"
    assert len(shown(model)) == 2


def test_a_bound_within_a_bound_does_not_extend_it() -> None:
    def work() -> None:
        with bounded(0.05), bounded(100):
            while True:
                pass

    with pytest.raises(TooSlow):
        work()


def test_several_filters_hold_at_once_and_gaps_are_never_hidden() -> None:
    model = LogModel()
    model.append([*entries(["alpha one", "alpha two", "beta one"]), gap(3)])
    model.narrow(Filters(patterns=(Pattern("alpha"), Pattern("!two"))))
    assert shown(model)[0] == "alpha one"
    assert len(shown(model)) == 2
    assert list(model.filters.words()) == ["&alpha", "&!two"]


def test_one_process_alone_and_prefixes_as_a_column() -> None:
    model = model_of(RANKS)
    assert [record.process for record in model.buffer.records] == ["TP0", "TP3", "EngineCore_DP0", ""]
    model.narrow(Filters(process="TP3"))
    assert shown(model) == [RANKS[1]]
    model.narrow(Filters(process=NO_NAME))
    assert shown(model) == [RANKS[3]]
    model.view.hides_prefixes = True
    model.narrow(Filters())
    texts = [row.record.texts[0][row.start :] for row in model.view.rows]
    assert texts == ["Load weight begin.", "Load weight begin.", "ready", "Uvicorn running"]
    assert all(row.is_first for row in model.view.rows)


def test_the_next_exception_is_the_start_of_a_traceback_and_its_block_is_whole() -> None:
    model = model_of(["fine", *TRACEBACK, "ERROR: no exception", "fine"])
    assert model.next_exception(1)
    assert model.cursor is not None
    assert [record.texts[0] for record in model.cursor.whole_block] == list(TRACEBACK)
    assert [record.texts[0] for record in model.selected] == list(TRACEBACK)
    model.step(2)
    assert model.selected == ()
    assert [record.texts[0] for record in model.cursor.whole_block] == list(TRACEBACK)
    assert not model_of(["ERROR: no exception"]).next_exception(1)


def test_a_block_closes_to_its_first_line_and_opens_again() -> None:
    model = model_of(["plain", "  goes on", "    and on", *TRACEBACK, "end"])
    model.next_exception(1)
    model.step(1)
    assert model.fold_block()
    assert shown(model) == ["plain", "  goes on", "    and on", TRACEBACK[0], "end"]
    assert model.cursor is not None
    assert model.cursor.texts[0] == TRACEBACK[0]
    model.fold_all()
    assert shown(model) == ["plain", TRACEBACK[0], "end"]
    model.fold_all()
    assert len(shown(model)) == 8
    assert not model_of(["alone"]).fold_block()


def test_equal_lines_before_an_indented_one_still_head_its_block() -> None:
    model = model_of(["same", "same", "  more"])
    head = model.buffer.records[0]
    assert (head.count, [record.texts[0] for record in head.block]) == (2, ["  more"])


def test_lines_after_no_error_are_a_block_but_no_error() -> None:
    model = model_of(["config:", "  a: 1", "next"])
    assert [record.level for record in model.buffer.records] == [Priority.INFO] * 3
    assert model.buffer.records[2].head is None


def test_a_selection_by_keys_reaches_from_where_it_began_to_the_cursor() -> None:
    model = model_of(["one", "two", "three", "four"])
    model.step(-1)
    model.select()
    model.step(-1)
    assert [record.texts[0] for record in model.selected] == ["two", "three"]
    model.follow()
    assert model.selected == ()
