"""Moments as they are typed, the histogram, pages of several journals, forms of saving."""

from __future__ import annotations

import json
from contextlib import suppress
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dflashtui.tui.log.buckets import axis, bars, beside, chart
from dflashtui.tui.log.buffer import Buffer
from dflashtui.tui.log.columns import columns_of, host_styles, source_name
from dflashtui.tui.log.merging import merged, merged_older
from dflashtui.tui.log.moments import MomentError, moment
from dflashtui.tui.log.record import Source, record_of
from dflashtui.tui.log.saving import Form, form_of, saved
from tests.tui.log_items import START, entries, entry, gap, numbered

NOW = datetime(2026, 12, 3, 12, 30, 15, tzinfo=UTC)
BERLIN = timezone(timedelta(hours=1))
A, B = Source("gpu-a", "x.service"), Source("gpu-b", "x.service")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("12:04", datetime(2026, 12, 3, 12, 4, tzinfo=UTC)),
        ("12:04:05.5", datetime(2026, 12, 3, 12, 4, 5, 500_000, tzinfo=UTC)),
        ("23:00", datetime(2026, 12, 2, 23, 0, tzinfo=UTC)),
        ("12-01 03:00", datetime(2026, 12, 1, 3, 0, tzinfo=UTC)),
        ("12-31 03:00", datetime(2025, 12, 31, 3, 0, tzinfo=UTC)),
        ("2026-11-30T03:00:01Z", datetime(2026, 11, 30, 3, 0, 1, tzinfo=UTC)),
        ("12-01", datetime(2026, 12, 1, tzinfo=UTC)),
        ("-10m", NOW - timedelta(minutes=10)),
        ("-1h30m", NOW - timedelta(minutes=90)),
        ("5min ago", NOW - timedelta(minutes=5)),
        ("last start", "last start"),
        ("last f", "last failure"),
        ("boot", "boot"),
    ],
)
def test_moments(text: str, expected: datetime | str) -> None:
    assert moment(text, NOW, UTC) == expected


@pytest.mark.parametrize("text", ["25:00", "soon", "-", "13-45 03:00", "10m", "", "-99999999999d", "12:04; reboot"])
def test_what_is_no_moment_is_refused_with_what_was_expected(text: str) -> None:
    with pytest.raises(MomentError, match="expected 12:04"):
        moment(text, NOW, UTC)


def test_a_clock_time_is_that_of_the_zone() -> None:
    assert moment("12:04", NOW, BERLIN) == datetime(2026, 12, 3, 11, 4, tzinfo=UTC)
    assert moment("12:04Z", NOW, BERLIN) == datetime(2026, 12, 3, 12, 4, tzinfo=UTC)


@given(st.text(max_size=20))
def test_any_text_is_a_moment_or_an_error_of_its_own(text: str) -> None:
    with suppress(MomentError):
        assert isinstance(moment(text, NOW, UTC), datetime | str)


def test_the_histogram_counts_lines_and_errors_and_is_walked() -> None:
    buffer = Buffer()
    buffer.append([*numbered(10), entry(100, "ERROR: bad"), *numbered(3, first=101)])
    found = chart(buffer.records, 10)
    assert found is not None
    assert [bucket.line_count for bucket in found.buckets] == [10, 0, 0, 0, 0, 0, 0, 0, 0, 4]
    assert [bucket.error_count for bucket in found.buckets][-1] == 1
    assert bars([10, 0, 1, 4]) == "█ ▁▃"
    assert beside(found, buffer.records[0].at.timestamp(), 1) == 10
    assert beside(found, buffer.records[0].at.timestamp(), -1) == -1
    assert axis(found, 60, UTC).startswith("12-01 03:00:00")
    assert len(axis(found, 20, UTC)) == 20
    assert chart([], 10) is None
    assert chart(buffer.records[:1], 4) is not None


def test_a_clock_that_jumps_back_does_not_break_the_histogram() -> None:
    buffer = Buffer()
    buffer.append([entry(100, "a"), entry(5, "b"), entry(50, "c")])
    found = chart(buffer.records, 5)
    assert found is not None
    assert sum(bucket.line_count for bucket in found.buckets) == 3


def test_journals_are_one_by_time_and_each_keeps_its_own_order() -> None:
    jumped = (entry(10, "a1"), entry(2, "a2"), entry(12, "a3"))
    whole = merged({A: jumped, B: entries(["b"], 11)})
    assert [item.message for item in whole.items if item.kind == "entry"] == ["a1", "a2", "b", "a3"]
    assert whole.sources == (A, A, B, A)


def test_of_older_pages_only_what_all_sources_reach_is_taken() -> None:
    older = merged_older({A: numbered(5, first=100), B: numbered(3, first=50)}, 5)
    assert {item.cursor for item in older.items} == {f"i={number}" for number in range(100, 105)}
    both = merged_older({A: numbered(2, first=100), B: numbered(3, first=50)}, 5)
    assert len(both.items) == 5


def test_columns_are_as_wide_as_what_is_in_them_and_hosts_keep_their_colour() -> None:
    assert columns_of((A,), (), has_processes=False).width == 0
    assert columns_of((A, B), ("TP0", ""), has_processes=True).width == 6 + 4
    assert columns_of((A, Source("gpu-a", "y.service")), (), has_processes=False).has_units
    kernel = Source("gpu-a", "kernel", kernel=True)
    assert columns_of((A, kernel), (), has_processes=False).width == len("kernel ")
    assert source_name(Source("gpu-a\x1b[2J", "y.service"), with_host=True, with_unit=True) == "gpu-a y"
    many = host_styles([f"gpu-{number}" for number in range(7)])
    assert len(set(many.values())) == 7
    assert host_styles(["gpu-0"]) == {"gpu-0": many["gpu-0"]}
    assert len(host_styles([f"gpu-{number}" for number in range(20)])) == 20


def test_what_is_shown_is_saved_in_three_forms() -> None:
    records = [record_of(0, entry(0, "one", pid=5)), record_of(1, gap(1)), record_of(2, entry(2, "a\nb\x1b[31m"), A)]
    assert saved(records, Form.TEXT, B).decode().splitlines()[0] == "2026-12-01T03:00:00.000000Z python: one"
    assert [json.loads(line)["kind"] for line in saved(records, Form.JSON, B).splitlines()] == ["entry", "gap", "entry"]
    exported = saved(records, Form.EXPORT, B)
    first, second, rest = exported.split(b"\n\n", 2)
    assert b"MESSAGE=one\n" in first
    assert b"_HOSTNAME=gpu-b" in first
    assert f"__REALTIME_TIMESTAMP={int(START.timestamp() * 1e6)}".encode() in first
    assert b"MESSAGE\n\x08\0\0\0\0\0\0\0a\nb\x1b[31m\n" in second + b"\n\n" + rest
    assert [form_of(end) for end in (".jsonl", ".export", ".log")] == [Form.JSON, Form.EXPORT, Form.TEXT]
