"""The filter language of lists, and how their columns share the width."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dflashtui.tui.filtering import matches
from dflashtui.tui.listing.draw import GUTTER, title_pieces
from dflashtui.tui.listing.table import GAP, Column, Table, slots
from dflashtui.tui.rows import tables
from dflashtui.tui.styled import cut, measured, plain
from tests.tui.hostile import WIDTHS, forbidden_in, patient, texts

ALL = (
    tables.FLEET, tables.UNITS, tables.SERVICES, tables.GPUS, tables.ALL_GPUS, tables.PROBLEMS, tables.EVENTS,
)  # fmt: skip


@patient
@given(texts, texts)
def test_a_filter_never_fails_and_not_is_its_opposite(word: str, text: str) -> None:
    assert matches("", text)
    if len(word.split()) == 1 and word == word.strip():
        assert matches(f"!{word}", text.lower()) != matches(word, text.lower())


@pytest.mark.parametrize(
    ("query", "holds"),
    [
        ("sglang", True),
        ("SGLANG gpu07", True),
        ("sglang gpu08", False),
        ("!vllm", True),
        ("!ready", False),
        ("gpu0?", True),
        ("gpu*", True),
        ("glang*", False),
        ("sglang-[ab]", False),
        ("!", False),
    ],
)
def test_the_filter_language(query: str, *, holds: bool) -> None:
    assert matches(query, "gpu07 sglang-a.service ready") is holds


@patient
@given(st.sampled_from(ALL), WIDTHS, st.integers(0, 300))
def test_columns_share_the_width(table: Table, width: int, widest: int) -> None:
    shown = slots(table.columns, width, {place: widest for place, one in enumerate(table.columns) if one.middle})
    used = sum(slot.width for slot in shown) + GAP * (len(shown) - 1)
    assert shown
    assert [slot.position for slot in shown] == sorted({slot.position for slot in shown})
    assert used <= width or all(slot.width == 1 for slot in shown)
    gone = [one for one in table.columns if one not in {slot.column for slot in shown}]
    assert min((one.keep for one in gone), default=99) >= max(slot.column.keep for slot in shown)
    for slot in shown:
        assert 1 <= slot.width <= max(slot.column.width, slot.column.most)


def test_what_is_left_goes_evenly_to_those_that_can_use_it() -> None:
    table = (Column("a", "a", 2, 10), Column("b", "b", 2, 4), Column("c", "c", 2))
    assert [slot.width for slot in slots(table, 20, {})] == [10, 4, 2]
    assert [slot.width for slot in slots(table, 14, {})] == [4, 4, 2]
    assert [slot.width for slot in slots(table, 20, {0: 3})] == [3, 4, 2]


@patient
@given(st.sampled_from(ALL), WIDTHS)
def test_titles_stand_over_their_columns(table: Table, width: int) -> None:
    shown = slots(table.columns, width - GUTTER, {})
    line = cut(title_pieces(shown, shown[-1].position, "▾"), width)
    assert measured(line) <= width
    assert not forbidden_in(plain(line))
