from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dflashtui.model.journal import JournalEntry, JournalGap
from dflashtui.source.journal_cursor import ResumePoint, start_at
from dflashtui.source.journal_doubt import LATE_SECONDS, SOON_SECONDS, Doubt
from dflashtui.source.journal_place import place, stands_at_or_before
from dflashtui.source.journal_reading import OVERRUN, REBOOTED, UNREADABLE, LineSplitter, Reading
from dflashtui.source.journal_shed import Quota, Shedder, unit_name
from tests.faults.marks import fault

if TYPE_CHECKING:
    from dflashtui.model.journal import JournalItem

A, B = "a.service", "b.service"


def cursor(number: int, *, seqnum_id: str = "5" * 32, boot: str = "b" * 32) -> str:
    return f"s={seqnum_id};i={number:x};b={boot};m=1;t=1;x=1"


def line(number: int, unit: str = A, *, boot: str = "b" * 32, **fields: str) -> bytes:
    entry = {
        "__CURSOR": cursor(number, boot=boot), "__REALTIME_TIMESTAMP": "1796099778108500", "_BOOT_ID": boot,
        "_SYSTEMD_UNIT": unit, "MESSAGE": f"line {number}",
    } | fields  # fmt: skip
    return json.dumps(entry, separators=(",", ":")).encode() + b"\n"


def messages(items: tuple[JournalItem, ...]) -> list[str]:
    return [item.message if isinstance(item, JournalEntry) else item.text for item in items]


def reading(resume: ResumePoint | None = None, **more: object) -> Reading:
    return Reading(resume or ResumePoint(), {A, B}, "system", **more)  # type: ignore[arg-type]  # as given


@given(st.lists(st.binary(max_size=30).map(lambda data: data.replace(b"\n", b""))), st.randoms())
def test_lines_are_the_same_however_they_are_cut(lines: list[bytes], random: object) -> None:
    data = b"".join(one + b"\n" for one in lines)
    splitter, found = LineSplitter(), []
    while data:
        size = random.randint(1, len(data))  # type: ignore[attr-defined]  # hypothesis' Random
        found += splitter.feed(data[:size])
        data = data[size:]
    assert found == lines


@given(st.lists(st.binary(max_size=12).map(lambda data: data.replace(b"\n", b"")), min_size=1), st.integers(1, 7))
def test_a_line_over_the_limit_is_cut_and_the_next_is_whole(lines: list[bytes], size: int) -> None:
    data = b"".join(one + b"\n" for one in lines)
    splitter = LineSplitter(limit_bytes=6)
    found = [one for start in range(0, len(data), size) for one in splitter.feed(data[start : start + size])]
    assert [one[:6] for one in found] == [one[:6] for one in lines]


def test_the_place_moves_with_whole_entries_only() -> None:
    resume = ResumePoint()
    follower = reading(resume)
    follower.feed(line(1) + line(2) + line(3)[:-20])
    assert resume.cursor == cursor(2)
    assert messages(follower.feed(line(3)[-20:])) == ["line 3"]
    assert resume.cursor == cursor(3)


def test_the_entry_that_comes_once_more_is_dropped_only_at_first() -> None:
    follower = reading(repeats=cursor(1))
    assert messages(follower.feed(line(1) + line(2) + line(1))) == ["line 2", "line 1"]
    follower = reading(repeats=cursor(1))
    assert messages(follower.feed(line(2) + line(1))) == ["line 2", "line 1"]


@fault("D10", how="rubbish between lines", result="told; whole lines are kept")
def test_rubbish_between_lines_is_told_once_and_spoilt_entries_each_time() -> None:
    follower = reading()
    items = follower.feed(b"banner\nbanner\n\n" + line(1) + b"banner\n" + line(2)[:-5] + b"\n" + line(3))
    assert messages(items) == [
        UNREADABLE, "line 1", f"{UNREADABLE}: 1 lines not shown", "line 3",
    ]  # fmt: skip


def test_another_boot_is_told_once() -> None:
    started = {"_TRANSPORT": "driver", "MESSAGE_ID": "f77379a8490b408bbe5f6940505a777b"}
    follower = reading()
    items = follower.feed(line(1) + line(2, boot="c" * 32, **started) + line(3, boot="c" * 32))
    assert messages(items) == ["line 1", REBOOTED, "line 3"]


def test_a_flood_is_left_out_and_counted_and_a_quiet_unit_is_not() -> None:
    clock = [100.0]
    follower = reading(quota=Quota(lines_per_second=10, burst_lines=5), clock=lambda: clock[0])
    flood = b"".join(line(number) for number in range(1, 100))
    items = follower.feed(flood + line(100, B) + line(101, B))
    assert messages(items) == [
        *(f"line {number}" for number in range(1, 6)), f"{OVERRUN}: 94 lines not shown", "line 100", "line 101",
    ]  # fmt: skip
    gap = items[5]
    assert isinstance(gap, JournalGap)
    assert gap.unit == A
    clock[0] += 1
    assert messages(follower.feed(line(102) + line(103))) == ["line 102", "line 103"]


def test_a_flood_moves_the_place_to_its_last_line() -> None:
    resume = ResumePoint()
    reading(resume, quota=Quota(1, 1)).feed(b"".join(line(number) for number in range(1, 50)))
    assert resume.cursor == cursor(49)


@given(st.lists(st.sampled_from([A, B]), max_size=60), st.integers(1, 10))
def test_what_is_given_and_what_is_counted_is_all_there_was(units: list[str], burst: int) -> None:
    follower = reading(quota=Quota(1, burst), clock=lambda: 1.0)
    items = follower.feed(b"".join(line(number, unit) for number, unit in enumerate(units)))
    for unit in (A, B):
        own = [item for item in items if item.unit == unit]
        lost = sum(item.entries_lost or 0 for item in own if isinstance(item, JournalGap))
        assert lost + sum(isinstance(item, JournalEntry) for item in own) == units.count(unit)


def test_the_unit_of_a_line_cannot_be_forged_by_its_message() -> None:
    forged = line(1, MESSAGE='"_SYSTEMD_UNIT":"b.service"', A='","_SYSTEMD_UNIT":"b.service')
    swapped = json.dumps(dict(reversed(json.loads(forged).items()))).encode()
    assert unit_name(Shedder(Quota()).unit_of(swapped)) == A
    assert unit_name(Shedder(Quota()).unit_of(line(1, r"x\x2dy.service"))) == r"x\x2dy.service"


def test_why_reading_goes_on_elsewhere() -> None:
    assert start_at(cursor(5), cursor(5)).gap is None
    assert start_at(cursor(5), cursor(5)).repeats == cursor(5)
    assert "up to 4 entries" in (start_at(cursor(5), cursor(10)).gap or "")
    assert "another journal" in (start_at(cursor(5), cursor(1, seqnum_id="6" * 32)).gap or "")
    assert start_at("opaque", cursor(1)).gap


def test_order_is_read_off_cursors_of_one_journal_only() -> None:
    mark = place(cursor(5))
    assert stands_at_or_before(cursor(5), mark)
    assert not stands_at_or_before(cursor(6), mark)
    assert not stands_at_or_before(cursor(1, seqnum_id="6" * 32), mark)
    assert not stands_at_or_before("opaque", mark)
    assert not stands_at_or_before(cursor(1), None)


@pytest.mark.parametrize(
    ("before", "last", "count", "expected"),
    [
        (cursor(5), cursor(6), 1, None),
        (cursor(5), cursor(9), 4, None),
        (cursor(5), cursor(9, seqnum_id="6" * 32), 1, None),
        (None, cursor(9), 1, None),
        (cursor(5), cursor(9), 3, cursor(5)),
    ],
)
def test_numbers_that_jump_are_kept_in_mind(before: str | None, last: str, count: int, expected: str | None) -> None:
    doubt = Doubt()
    doubt.note(before, last, count, 100.0)
    assert doubt.since == expected
    doubt.note(cursor(20), cursor(40), 1, 101.0)
    assert doubt.since == (expected or cursor(20)), "the first jump stays"


def test_the_host_is_asked_at_once_where_a_hole_is_likely_and_else_once_a_minute() -> None:
    doubt = Doubt()
    assert not doubt.is_due(100.0, silent_seconds=50.0, behind_seconds=50.0)
    doubt.note(cursor(5), cursor(9), 1, 100.0)
    assert not doubt.is_due(100.0, silent_seconds=0.5, behind_seconds=0.5)
    assert doubt.is_due(100.0, silent_seconds=1.0, behind_seconds=0.0)
    assert doubt.is_due(100.0, silent_seconds=0.0, behind_seconds=1.0)
    assert doubt.is_due(100.0 + LATE_SECONDS, silent_seconds=0.0, behind_seconds=0.0)
    doubt.asked_at = 100.0
    assert not doubt.is_due(100.0 + SOON_SECONDS, silent_seconds=30.0, behind_seconds=0.0)
    assert doubt.is_due(100.0 + SOON_SECONDS, silent_seconds=0.0, behind_seconds=2.0)
    assert doubt.is_due(100.0 + LATE_SECONDS, silent_seconds=0.0, behind_seconds=0.0)
