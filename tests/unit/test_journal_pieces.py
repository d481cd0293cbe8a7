from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from dflashtui.model.journal import JournalEntry, JournalGap, JournalItem
from dflashtui.source.journal_entry import decode
from dflashtui.source.journal_pieces import JOINED_LIMIT, joined
from tests.faults.marks import fault

AT = datetime(2026, 12, 1, tzinfo=UTC)
RECORDED = Path(__file__).parent.parent / "data" / "journal" / "252" / "odd-messages.json"


def piece(message: str, stream: str | None, *, goes_on: bool = False) -> JournalEntry:
    line_break = "line-max" if goes_on else None
    return JournalEntry(cursor=message, at=AT, message=message, stream_id=stream, line_break=line_break)


def messages(items: tuple[JournalItem, ...]) -> list[str]:
    return [item.message for item in items if isinstance(item, JournalEntry)]


def test_pieces_become_one_line_at_the_place_of_the_first() -> None:
    items = [piece("a", "1", goes_on=True), piece("x", "2"), piece("b", "1", goes_on=True), piece("c", "1")]
    whole = joined(items)
    assert messages(whole) == ["abc", "x"]
    assert whole[0].cursor == "a"


@fault("D11", how="split lines of several streams", result="never woven into one")
def test_streams_are_never_woven_into_one() -> None:
    items = [piece("a", "1", goes_on=True), piece("A", "2", goes_on=True), piece("B", "2"), piece("b", "1")]
    assert messages(joined(items)) == ["ab", "AB"]


def test_what_misses_its_continuation_stays_and_says_so() -> None:
    (alone,) = joined([piece("a", "1", goes_on=True)])
    assert isinstance(alone, JournalEntry)
    assert (alone.message, alone.line_break) == ("a", "line-max")


def test_a_line_over_the_limit_stays_in_pieces() -> None:
    half = "x" * (JOINED_LIMIT // 2 + 1)
    assert len(joined([piece(half, "1", goes_on=True), piece(half, "1")])) == 2


def test_gaps_keep_their_place() -> None:
    gap = JournalGap(at=AT, reason="gap")
    assert joined([piece("a", "1"), gap, piece("b", "1")])[1] == gap


def test_the_recorded_line_of_60000_bytes() -> None:
    items = [decode(line, ("odd.service",)) for line in RECORDED.read_bytes().splitlines()]
    assert "x" * 60000 + ".END" in messages(joined(items))
    assert len(joined(items)) == len(items) - 1


@given(st.lists(st.tuples(st.text(max_size=3), st.sampled_from(["1", "2", None]), st.booleans())))
def test_no_text_is_lost_or_added(pieces: list[tuple[str, str | None, bool]]) -> None:
    items = [piece(text, stream, goes_on=goes_on) for text, stream, goes_on in pieces]
    for stream in ("1", "2", None):
        before = "".join(item.message for item in items if item.stream_id == stream)
        after = [item for item in joined(items) if isinstance(item, JournalEntry) and item.stream_id == stream]
        assert "".join(item.message for item in after) == before
