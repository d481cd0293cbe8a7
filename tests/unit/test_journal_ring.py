from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from dflashtui.fleet.journal_feed import NOT_SHOWN, JournalFeed
from dflashtui.fleet.journal_logs import UnitLogs
from dflashtui.fleet.journal_ring import JournalRing
from dflashtui.model.journal import JournalEntry, JournalGap, JournalItem
from dflashtui.source.journal_reading import OVERRUN

AT = datetime(2026, 12, 1, tzinfo=UTC)
A, B = "a.service", "b.service"


def entry(number: int, unit: str = A, size: int = 0) -> JournalEntry:
    cursor = f"s=5;i={number:x};b=b;m=1;t=1;x=1"
    return JournalEntry(cursor=cursor, at=AT, message=str(number).ljust(size), unit=unit)


def entries(first: int, last: int) -> list[JournalEntry]:
    return [entry(number) for number in range(first, last + 1)]


def gap(lost: int | None = None, reason: str = OVERRUN, unit: str | None = A) -> JournalGap:
    return JournalGap(at=AT, reason=reason, unit=unit, entries_lost=lost)


def numbers(items: tuple[JournalItem, ...] | list[JournalItem]) -> list[int]:
    return [int(item.message) for item in items if isinstance(item, JournalEntry)]


def test_the_oldest_go_first() -> None:
    ring = JournalRing(limit_items=3)
    ring.extend(entries(1, 5))
    assert numbers(ring.newest(9)) == [3, 4, 5]
    assert numbers(ring.newest(2)) == [4, 5]
    assert ring.newest(0) == ()


def test_long_text_counts_too() -> None:
    ring = JournalRing(limit_characters=100)
    ring.extend(entry(number, size=40) for number in range(1, 6))
    assert numbers(ring.newest(9)) == [4, 5]
    ring.extend([entry(6, size=1000)])
    assert numbers(ring.newest(9)) == [6]


def test_counts_of_lost_lines_in_a_row_become_one() -> None:
    ring = JournalRing()
    ring.extend([gap(3), gap(4), entry(1), gap(5), gap(reason="other"), gap(reason="other")])
    assert [item.entries_lost for item in ring.newest(9) if isinstance(item, JournalGap)] == [7, 5, None]


def test_nothing_is_taken_twice() -> None:
    ring = JournalRing()
    ring.extend(entries(1, 3))
    assert numbers(ring.extend(entries(2, 5))) == [4, 5]


def test_history_goes_before_what_a_follower_gave() -> None:
    ring = JournalRing()
    ring.extend(entries(8, 9))
    ring.put_before(entries(4, 8), asked=5)
    assert numbers(ring.newest(9)) == [4, 5, 6, 7, 8, 9]
    assert ring.reaches_back(6)
    assert not ring.reaches_back(7)


def test_history_that_is_older_than_all_goes_before_too() -> None:
    ring = JournalRing()
    ring.extend(entries(8, 9))
    ring.put_before(entries(4, 7), asked=4)
    assert numbers(ring.newest(9)) == [4, 5, 6, 7, 8, 9]


def test_history_ahead_of_a_lagging_follower_leaves_no_hole() -> None:
    ring = JournalRing()
    ring.extend(entries(1, 2))
    ring.put_before(entries(50, 52), asked=3)
    ring.extend(entries(3, 60))
    assert numbers(ring.newest(100)) == list(range(1, 61))


def test_what_history_gave_first_is_not_given_again() -> None:
    ring = JournalRing()
    ring.put_before(entries(4, 6), asked=3)
    assert numbers(ring.extend(entries(1, 8))) == [7, 8]


def test_less_than_was_asked_for_is_all_there_is() -> None:
    ring = JournalRing()
    assert not ring.reaches_back(1)
    ring.put_before([], asked=5)
    assert ring.reaches_back(100)


@given(st.integers(0, 30), st.integers(0, 30), st.integers(1, 20), st.integers(0, 30))
def test_a_reader_that_comes_at_any_moment_gets_a_run_without_holes(
    anchored: int, given_then: int, asked: int, more: int
) -> None:
    """Lines 1…n; the follower began after `anchored` and has given some; then `asked` are read and `more` follow."""
    read_at = anchored + given_then
    ring = JournalRing(limit_items=1000)
    ring.extend(entries(anchored + 1, anchored + given_then // 2))
    if not ring.reaches_back(asked):
        ring.put_before(entries(max(1, read_at - asked + 1), read_at), asked=asked)
    ring.extend(entries(anchored + given_then // 2 + 1, read_at + more))
    kept = numbers(ring.newest(1000))
    last = read_at + more
    assert kept == list(range(last - len(kept) + 1, last + 1))
    assert len(kept) >= min(asked, last)


async def test_a_slow_reader_is_told_what_it_missed() -> None:
    feed = JournalFeed(A, limit_items=3)
    assert feed.put(entries(1, 5)) == 2
    assert feed.put([gap(10), entry(6)]) == 2
    lost, *rest = await feed.take()
    assert isinstance(lost, JournalGap)
    assert (lost.reason, lost.entries_lost, lost.unit) == (NOT_SHOWN, 4, A)
    assert numbers(rest) == [5, 6]
    feed.put([entry(7)])
    assert numbers(await feed.take()) == [7]


async def test_a_gap_that_goes_unseen_is_counted_with_the_rest() -> None:
    feed = JournalFeed(A, limit_items=1)
    feed.put([gap(10), entry(1), entry(2)])
    lost, _ = await feed.take()
    assert isinstance(lost, JournalGap)
    assert lost.entries_lost == 11


async def test_each_unit_has_its_own_lines_and_a_gap_of_the_host_is_everybody_s() -> None:
    logs = UnitLogs()
    logs.cover([A, B])
    with logs.open(A, 9) as (newest, a), logs.open(B, 9) as (_, b):
        assert newest == ()
        logs.publish([entry(1), entry(2, B), gap(reason="reboot", unit=None), entry(3), entry(4, "c.service")])
        assert numbers(await a.take()) == [1, 3]
        assert [item.kind for item in await b.take()] == ["entry", "gap"]


async def test_lines_left_out_anywhere_are_counted() -> None:
    logs = UnitLogs()
    logs.cover([A])
    with logs.open(A, 9) as (_, feed):
        logs.publish([gap(7), *entries(1, 10_005)])
        await feed.take()
    assert logs.dropped_count == 7 + 5


def test_what_is_followed_no_longer_is_forgotten() -> None:
    logs = UnitLogs()
    logs.cover([A, B])
    logs.publish([entry(1), entry(2, B)])
    logs.cover([A])
    logs.cover([A, B])
    assert numbers(logs.ring(A).newest(9)) == [1]
    assert numbers(logs.ring(B).newest(9)) == []
