"""The reader against a host in memory, and who may read."""

from __future__ import annotations

import asyncio
from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from dflashtui.errors import CommandFailed, SourceUnavailable, TransportLost
from dflashtui.model.journal import JournalEntry, JournalGap
from dflashtui.source import journal_follow
from dflashtui.source.journal import JournalReader
from dflashtui.source.journal_access import journal_access
from dflashtui.source.journal_argv import JournalAccess
from dflashtui.source.journal_cursor import ResumePoint
from dflashtui.source.journal_doubt import LATE_SECONDS, SILENCE_SECONDS
from dflashtui.source.journal_follow import WHILE_READ
from dflashtui.source.journal_history import TOO_MUCH, history_items
from dflashtui.source.journal_lag import FLOOD_LINES
from dflashtui.source.journal_reading import REBOOTED
from dflashtui.source.journal_shed import Quota
from dflashtui.transport.base import Completed
from tests.faults.marks import fault
from tests.unit.journal_fakes import FakeHost, line_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from dflashtui.model.journal import JournalItem

A, B = "a.service", "b.service"


@pytest.fixture
def host() -> FakeHost:
    return FakeHost()


@pytest.fixture
def reader(host: FakeHost) -> JournalReader:
    return JournalReader(host, JournalAccess())


def texts(items: tuple[JournalEntry | JournalGap, ...]) -> list[str]:
    return [item.message if isinstance(item, JournalEntry) else item.text for item in items]


async def test_history_is_the_newest_lines_oldest_first(host: FakeHost, reader: JournalReader) -> None:
    for number in range(6):
        host.log(f"line {number}")
        host.log("other", B)
    assert texts(await reader.history(A, lines=3)) == ["line 3", "line 4", "line 5"]


async def test_history_before_a_cursor_never_contains_it(host: FakeHost, reader: JournalReader) -> None:
    cursors = [host.log(f"line {number}") for number in range(6)]
    assert texts(await reader.history(A, lines=2, before=cursors[3])) == ["line 1", "line 2"]
    foreign = host.log("other", B)
    host.log("line 6")
    assert texts(await reader.history(A, lines=2, before=foreign)) == ["line 4", "line 5"]
    assert await reader.history(A, lines=2, before=cursors[0]) == ()


async def test_history_of_one_run(host: FakeHost, reader: JournalReader) -> None:
    host.log("earlier", _SYSTEMD_INVOCATION_ID="1")
    host.log("Started", None, _SYSTEMD_UNIT="init.scope", UNIT=A, _PID="1", INVOCATION_ID="2")
    host.log("line", _SYSTEMD_INVOCATION_ID="2")
    host.log("forged", B, INVOCATION_ID="2")
    assert texts(await reader.history(A, lines=9, invocation_id="2")) == ["Started", "line"]


async def test_history_marks_a_reboot(host: FakeHost, reader: JournalReader) -> None:
    host.log("before")
    host.reboot()
    host.log("after")
    assert texts(await reader.history(A, lines=9)) == ["before", REBOOTED, "after"]


async def test_history_before_a_malformed_cursor_is_an_error(reader: JournalReader) -> None:
    with pytest.raises(CommandFailed, match="Invalid argument"):
        await reader.history(A, lines=1, before="rubbish")


def test_history_that_is_too_large_is_cut_at_its_old_end(host: FakeHost) -> None:
    for number in range(3):
        host.log(f"line {number}")
    printed = b"".join(map(line_of, reversed(host.entries)))
    done = Completed("gpu-a", ("journalctl",), None, printed[:-40], b"", truncated=True)
    assert texts(history_items(done, A, "system", lines=3, before=None)) == [TOO_MUCH, "line 1", "line 2"]


async def test_following_from_nowhere_begins_now(host: FakeHost, reader: JournalReader) -> None:
    host.log("old")
    resume = ResumePoint()
    async with aclosing(reader.follow({A}, resume)) as batches:
        host.log("too early to be seen, as the follower has not begun")
        first = anext(batches)
        await reader.anchor(resume)
        host.log("new")
        assert texts(await first) == ["new"]


async def test_following_an_empty_journal_gives_all(host: FakeHost, reader: JournalReader) -> None:
    resume = ResumePoint()
    await reader.anchor(resume)
    assert resume.cursor is None
    host.log("first")
    async with aclosing(reader.follow({A}, resume)) as batches:
        assert texts(await anext(batches)) == ["first"]


async def test_a_lost_link_is_an_error_and_the_place_is_kept(host: FakeHost, reader: JournalReader) -> None:
    host.log("old")
    resume = ResumePoint()
    await reader.anchor(resume)
    cursor = host.log("new")
    batches = reader.follow({A}, resume)
    assert texts(await anext(batches)) == ["new"]
    host.cut()
    with pytest.raises(TransportLost):
        await anext(batches)
    assert resume.cursor == cursor
    assert host.followers == []


async def test_what_is_vacuumed_away_from_under_a_follower_is_told(host: FakeHost) -> None:
    now = [100.0]
    reader = JournalReader(host, JournalAccess(), clock=lambda: now[0])
    host.log("old")
    async with aclosing(reader.follow({A}, ResumePoint())) as batches:
        first = asyncio.ensure_future(anext(batches))
        while not host.followers:  # noqa: ASYNC110 - the fake has no event for it
            await asyncio.sleep(0)
        host.log("read")
        await first
        host.lags = True
        for number in range(3):
            host.log(f"line {number}")
        host.vacuum(keep=1)
        del host.followers[0].untold[:2]
        now[0] += SILENCE_SECONDS
        host.tell_followers()
        gap, line = await anext(batches)
    assert isinstance(gap, JournalGap)
    assert "vacuumed" in gap.reason
    assert texts((line,)) == ["line 2"]


@fault("D3", how="lines are vacuumed between two others, no silence", result="a gap line, a minute later at most")
async def test_what_is_vacuumed_without_a_silence_is_told_too(host: FakeHost, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal_follow, "BEAT_SECONDS", 0.01)
    now = [100.0]
    reader = JournalReader(host, JournalAccess(), clock=lambda: now[0])
    host.log("old")
    resume = ResumePoint()
    async with aclosing(reader.follow({A}, resume)) as batches:
        await _come_near(host, batches)
        host.lags = True
        for number in range(5):
            host.log(f"line {number}")
        host.vacuum(keep=1)
        del host.followers[0].untold[1:4]
        host.tell_followers()
        assert texts(await anext(batches)) == ["line 0"]
        assert texts(await anext(batches)) == ["line 4"]
        told = asyncio.ensure_future(anext(batches))
        now[0] += LATE_SECONDS
        (gap,) = await told
    assert isinstance(gap, JournalGap)
    assert gap.unit is None
    assert gap.text == f"{WHILE_READ}: lines of the last 60 s may be missing above"
    assert resume.doubt.since is None


async def test_what_was_unsure_when_the_link_was_lost_is_asked_over_the_next_one(host: FakeHost) -> None:
    now = [100.0]
    reader = JournalReader(host, JournalAccess(), clock=lambda: now[0])
    host.log("old")
    resume = ResumePoint()
    async with aclosing(reader.follow({A}, resume)) as batches:
        await _come_near(host, batches)
        host.log("of another unit", B)
        host.log("new")
        assert texts(await anext(batches)) == ["new"]
    host.vacuum(keep=1)
    now[0] += LATE_SECONDS
    async with aclosing(reader.follow({A}, resume)) as batches:
        host.log("newer")
        assert [text for text in texts(await anext(batches)) if WHILE_READ in text]


async def test_units_that_are_not_followed_make_no_gap(host: FakeHost) -> None:
    now = [100.0]
    reader = JournalReader(host, JournalAccess(), clock=lambda: now[0])
    host.log("old")
    async with aclosing(reader.follow({A}, ResumePoint())) as batches:
        await _come_near(host, batches)
        for number in range(5):
            host.log("of another unit", B)
            host.log(f"line {number}")
            now[0] += LATE_SECONDS
            assert texts(await anext(batches)) == [f"line {number}"]
    questions = [argv for argv in host.asked if any("--cursor=" in word for word in argv) and "--lines=1" in argv]
    assert len(questions) == 6, "one at the start, one a minute"


@pytest.mark.parametrize("failing", ["_PID=1", "--reverse"])
async def test_a_reading_that_fails_while_a_flood_is_skipped_loses_nothing(host: FakeHost, failing: str) -> None:
    reader, resume, now = await _anchored(host)
    async with aclosing(reader.follow({A, B}, resume, quota=Quota())) as batches:
        await _come_near(host, batches)
        for number in range(FLOOD_LINES):
            host.log(f"flood {number}")
        host.log("quiet", B)
        now[0] += 60
        host.tell_followers()
        host.fails = lambda argv: failing in argv and "--follow" not in argv
        with pytest.raises(CommandFailed, match="No buffer space"):
            async for _ in batches:
                pass
    assert resume.cursor != host.entries[-1]["__CURSOR"]


async def test_what_is_vacuumed_while_a_flood_is_skipped_is_told_to_all(host: FakeHost) -> None:
    reader, resume, now = await _anchored(host)
    async with aclosing(reader.follow({A, B}, resume, quota=Quota())) as batches:
        await _come_near(host, batches)
        for number in range(FLOOD_LINES + 500):
            host.log(f"flood {number}")
        now[0] += 60
        host.tell_followers()
        host.log("quiet, never read", B)
        host.log("newest")
        host.vacuum(keep=1)
        seen = [item async for item in _until(batches, lambda: resume.cursor == host.entries[-1]["__CURSOR"])]
    assert [item.unit for item in seen if isinstance(item, JournalGap) and "vacuumed" in item.text] == [None]


@fault("D5", how="reading goes on behind an entry of another unit", result="the first entry is there")
async def test_reading_goes_on_behind_an_entry_that_the_filter_does_not_match(
    host: FakeHost, reader: JournalReader
) -> None:
    host.log("old")
    resume = ResumePoint()
    host.log("of another unit", B)
    await reader.anchor(resume)
    for number in range(3):
        host.log(f"line {number}")
    async with aclosing(reader.follow({A}, resume)) as batches:
        seen = [text for _ in range(3) for text in texts(await anext(batches))]
    assert seen == ["line 0", "line 1", "line 2"]


async def test_a_follower_that_a_flood_left_behind_skips_it_and_nothing_else(host: FakeHost) -> None:
    reader, resume, now = await _anchored(host)
    async with aclosing(reader.follow({A, B}, resume, quota=Quota())) as batches:
        await _come_near(host, batches)
        for number in range(FLOOD_LINES + 500):
            host.log(f"flood {number}")
            if number % 100 == 0:
                host.log(f"quiet {number}", B)
        now[0] += 60
        host.tell_followers()
        seen = [item async for item in _until(batches, lambda: resume.cursor == host.entries[-1]["__CURSOR"])]
        host.lags = False
        host.log("after")
        assert texts(await anext(batches)) == ["after"]
    gaps = [item for item in seen if isinstance(item, JournalGap)]
    assert [gap.unit for gap in gaps] == [A]
    assert "writes faster than its journal can be read" in gaps[0].text
    given = [item.message for item in seen if isinstance(item, JournalEntry)]
    assert [text for text in given if text.startswith("quiet")] == [
        f"quiet {number}" for number in range(0, FLOOD_LINES + 500, 100)
    ]
    flood = [text for text in given if text.startswith("flood")]
    numbers = (*range(len(flood) - 200), *range(FLOOD_LINES + 300, FLOOD_LINES + 500))
    assert flood == [f"flood {number}" for number in numbers], "its end is not skipped"
    assert len(flood) + (gaps[0].entries_lost or 0) == FLOOD_LINES + 500


async def _anchored(host: FakeHost) -> tuple[JournalReader, ResumePoint, list[float]]:
    """A reader that stands at the newest entry of a host whose followers lag, and its clock."""
    now = [host.now_usec / 1_000_000]
    reader = JournalReader(host, JournalAccess(), clock=lambda: now[0])
    host.log("old")
    resume = ResumePoint()
    await reader.anchor(resume)
    host.lags = True
    return reader, resume, now


async def _come_near(host: FakeHost, batches: AsyncIterator[tuple[JournalItem, ...]]) -> None:
    """Once the follower runs and is not behind."""
    first = asyncio.ensure_future(anext(batches))
    while not host.followers:  # noqa: ASYNC110 - the fake has no event for it
        await asyncio.sleep(0)
    host.log("near")
    host.tell_followers()
    assert texts(await first) == ["near"]


async def _until(
    batches: AsyncIterator[tuple[JournalItem, ...]], holds: Callable[[], bool]
) -> AsyncIterator[JournalItem]:
    while not holds():
        for item in await anext(batches):
            yield item


@pytest.mark.parametrize(
    ("status", "stderr"), [(127, b"sh: journalctl: not found"), (1, b"sudo: a password is required")]
)
async def test_a_follower_that_cannot_work_is_not_tried_at_once(
    host: FakeHost, reader: JournalReader, status: int, stderr: bytes
) -> None:
    host.log("old")
    resume = ResumePoint()
    await reader.anchor(resume)
    host.log("new")
    batches = reader.follow({A}, resume)
    await anext(batches)
    host.followers[0].end(status, stderr)
    with pytest.raises(SourceUnavailable):
        await anext(batches)


@pytest.mark.parametrize(("uid", "groups"), [(0, "root"), (1000, "ops systemd-journal"), (1000, "ops adm")])
async def test_root_and_some_groups_may_read(uid: int, groups: str) -> None:
    host = FakeHost(uid=uid, groups=groups)
    assert await journal_access(host) == JournalAccess(uid=uid)
    assert not any(argv[0] == "journalctl" for argv in host.asked)


async def test_nobody_else_may(host: FakeHost) -> None:
    host.uid, host.groups = 1000, "ops"
    host.log("of root", _PID="1")
    with pytest.raises(SourceUnavailable, match="add ops to group systemd-journal"):
        await journal_access(host)


async def test_an_access_list_that_lets_the_user_read_is_found_out(host: FakeHost) -> None:
    host.uid, host.groups = 1000, "ops"
    host.log("seen though no group says so", _PID="1", _UID="1000")
    assert await journal_access(host) == JournalAccess(uid=1000)


async def test_sudo_is_used_where_it_works(host: FakeHost) -> None:
    host.uid, host.groups = 1000, "ops"
    argv = ("sudo", "-n", "--", "journalctl", "--quiet", "--output=json", "--output-fields=MESSAGE_ID", "--lines=1")
    with pytest.raises(SourceUnavailable, match="a password is required"):
        await journal_access(host, become="sudo")
    host.answers[argv] = Completed("gpu-a", argv, 0, b"", b"")
    assert (await journal_access(host, become="sudo")).prefix == ("sudo", "-n", "--")


async def test_own_user_units_need_no_group_but_show_no_kernel(host: FakeHost) -> None:
    host.uid, host.groups = 1000, "ops"
    host.log("own", None, _UID="1000", _SYSTEMD_USER_UNIT=A)
    assert await journal_access(host, manager="user") == replace(JournalAccess("user", 1000), kernel=False)


async def test_a_host_without_journalctl_is_told(host: FakeHost, reader: JournalReader) -> None:
    argv = ("journalctl", "--quiet", "--output=json", "--output-fields=MESSAGE_ID", "--lines=1")
    host.answers[argv] = Completed("gpu-a", argv, 127, b"", b"journalctl: command not found")
    with pytest.raises(SourceUnavailable, match="not found"):
        await reader.anchor(ResumePoint())
