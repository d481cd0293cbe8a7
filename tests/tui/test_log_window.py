"""The window on a journal that is longer than memory: holes, paging back, back to the present."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dflashtui.model.journal import JournalGap
from dflashtui.model.journal_query import JournalQuery
from dflashtui.tui.log.buffer import LIVE_LIMIT, PAUSED_LIMIT, TAIL_LIMIT
from dflashtui.tui.log.holes import newer_part, older_part
from dflashtui.tui.log.model import LogModel
from tests.tui.log_items import START, gap, numbered, page_of

if TYPE_CHECKING:
    from dflashtui.tui.log.record import Record

PAGE = 500
LONG = numbered(1500)


def shown(model: LogModel) -> list[str]:
    return [record.texts[0] for record in model.view.records]


def hole_of(model: LogModel) -> Record:
    return next(record for record in model.buffer.records if record.is_hole)


def fetch(model: LogModel, journal: tuple[object, ...], *, from_below: bool) -> None:
    """What the screen does when a hole is reached."""
    hole = hole_of(model)
    after, before = model.buffer.around(hole)
    query = JournalQuery(lines=PAGE, before=before) if from_below else JournalQuery(lines=PAGE, after=after)
    page = page_of(journal, query)  # type: ignore[arg-type]
    filling = newer_part(page, after, PAGE) if from_below else older_part(page, before)
    model.fill(hole, filling.items, at_end=from_below, is_whole=filling.is_whole)


@pytest.mark.parametrize("from_below", [True, False])
def test_lines_that_were_not_shown_are_fetched_piece_by_piece_until_none_is_missing(*, from_below: bool) -> None:
    journal = numbered(1600)
    model = LogModel()
    model.append(journal[:100])
    model.skip(1200, START)
    model.append(journal[1300:])
    model.step(-1)
    for _ in range(3):
        fetch(model, journal, from_below=from_below)
    assert shown(model) == [f"line {number}" for number in range(1600)]
    assert not any(record.is_hole for record in model.buffer.records)


def test_after_a_page_the_cursor_stands_beside_where_it_was_and_the_hole_is_smaller() -> None:
    journal = numbered(2000)
    model = LogModel()
    model.append(journal[:10])
    model.skip(1900, START)
    model.append(journal[1910:])
    model.step(-1)
    fetch(model, journal, from_below=True)
    assert model.cursor is not None
    assert model.cursor.texts == ("line 1909",)
    assert hole_of(model).texts == ("… 1 400 lines not shown …",)
    fetch(model, journal, from_below=False)
    assert model.cursor.texts == ("line 10",)
    assert hole_of(model).texts == ("… 900 lines not shown …",)


def test_what_the_follower_itself_let_go_is_a_hole_too_and_what_journald_lost_is_none() -> None:
    journal = numbered(30)
    model = LogModel()
    lost = JournalGap(at=START, reason="the console could not keep up", entries_lost=20)
    model.append((*journal[:5], lost, *journal[25:]))
    assert hole_of(model).texts[0].endswith("could not keep up · 20 lines, fetched when looked at")
    model.fill(hole_of(model), journal[23:25], at_end=True, is_whole=False)
    assert hole_of(model).texts[0].endswith("could not keep up · 18 not fetched yet")
    fetch(model, journal, from_below=True)
    assert shown(model) == [f"line {number}" for number in range(30)]
    model.append([gap(40), JournalGap(at=START, reason="its rate limit", entries_lost=9, cursor="i=99")])
    assert not any(record.is_hole for record in model.buffer.records)


def test_the_whole_journal_is_reached_by_paging_back_and_memory_stays_bounded() -> None:
    journal = numbered(26_000)
    model = LogModel()
    model.append(journal[-200:])
    model.step(-1)
    while oldest := page_of(journal, JournalQuery(lines=13_000, before=model.buffer.oldest_cursor)):
        model.prepend(oldest)
        assert len(model.buffer.records) <= PAUSED_LIMIT + 1
    assert shown(model)[0] == "line 0"
    assert shown(model)[-1] == "… 6 000 newer lines not shown · G goes to the newest …"
    model.append(numbered(7, first=26_000))
    assert shown(model)[-1].startswith("… 6 007 newer")
    assert len(model.buffer.newest) == TAIL_LIMIT
    model.follow()
    assert shown(model)[-1] == "line 26006"
    assert len(shown(model)) == TAIL_LIMIT


def test_from_a_window_in_the_past_one_scrolls_down_to_the_present() -> None:
    journal = numbered(1500)
    model = LogModel()
    model.append(journal[-200:])
    model.move_to(journal[300:400], None, journal[350].at)
    assert model.cursor is not None
    assert model.cursor.texts == ("line 350",)
    assert not model.is_following
    model.append(more := numbered(5, first=1500))
    for _ in range(2):
        fetch(model, (*journal, *more), from_below=False)
    assert shown(model) == [f"line {number}" for number in range(300, 1505)]
    model.follow()
    model.append(numbered(1, first=1505))
    assert shown(model)[-1] == "line 1505"


def test_a_hole_that_left_the_buffer_meanwhile_is_not_filled() -> None:
    model = LogModel()
    model.append(numbered(5))
    model.skip(9, START)
    hole = hole_of(model)
    model.clear()
    model.fill(hole, numbered(9), at_end=True, is_whole=True)
    assert shown(model) == []


def test_a_page_that_is_vacuumed_meanwhile_closes_the_hole() -> None:
    assert newer_part((), "i=3", PAGE).is_whole
    assert older_part((), "i=9").is_whole
    assert newer_part(numbered(4), "i=1", PAGE).items == numbered(2, first=2)
    assert older_part(numbered(4), "i=2").items == numbered(2)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.sampled_from(["older", "down", "live", "follow", "jump"]), max_size=12))
def test_whatever_is_pressed_lines_stay_in_order_and_none_is_there_twice(steps: list[str]) -> None:
    journal = list(LONG)
    model = LogModel()
    model.append(journal[-100:])
    for step in steps:
        if step == "live":
            model.append(new := numbered(20, first=len(journal)))
            journal += new
        elif step == "older" and model.buffer.oldest_cursor:
            model.pause()
            model.prepend(page_of(journal, JournalQuery(lines=PAGE, before=model.buffer.oldest_cursor)))
        elif step == "down" and any(record.is_hole for record in model.buffer.records):
            fetch(model, tuple(journal), from_below=False)
        elif step == "jump":
            model.move_to(journal[300:400], None, journal[350].at)
        elif step == "follow":
            model.follow()
        cursors = [int(record.item.cursor[2:]) for record in model.buffer.records if record.item and record.item.cursor]
        assert cursors == list(range(cursors[0], cursors[0] + len(cursors)))
        assert len(model.buffer.records) <= LIVE_LIMIT
        assert [record.seq for record in model.buffer.records] == sorted(record.seq for record in model.buffer.records)
