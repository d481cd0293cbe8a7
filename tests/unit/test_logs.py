from __future__ import annotations

import asyncio
import json
import re
import unicodedata
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dflashtui.errors import AuthDenied
from dflashtui.exit_code import ExitCode
from dflashtui.model.journal import JournalEntry, JournalGap, Priority
from dflashtui.ops.logs import logs
from dflashtui.ops.logs_format import cat, document, full, short
from dflashtui.ops.logs_merge import LogMerge
from dflashtui.ops.logs_tail import LogOptions, LogSource, skew_seconds
from dflashtui.text import UNSEEN_CATEGORIES
from dflashtui.transport.base import Completed
from tests.faults.marks import fault
from tests.unit.journal_fakes import FakeHost

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

A = "a.service"
AT = datetime(2026, 12, 1, 4, 12, 33, 1, tzinfo=UTC)


def entry(message: str, seconds: float = 0, **fields: object) -> JournalEntry:
    values = {"cursor": message, "at": AT + timedelta(seconds=seconds), "message": message} | fields
    return JournalEntry.model_validate(values)


def source(host: FakeHost) -> LogSource:
    @asynccontextmanager
    async def connect() -> AsyncIterator[FakeHost]:
        yield host

    return LogSource(host.host, connect)


async def printed(*hosts: FakeHost, options: LogOptions | None = None) -> tuple[list[str], list[str], ExitCode]:
    lines: list[str] = []
    warnings: list[str] = []
    code = await logs(list(map(source, hosts)), A, options or LogOptions(), lines.append, warnings.append)
    return "".join(lines).splitlines(), warnings, code


def test_the_short_form() -> None:
    line = short("gpu-a", entry("text", pid=123, syslog_identifier="sglang"), timezone=UTC)
    assert line == "Dec 01 04:12:33 gpu-a sglang[123]: text"


def test_lines_of_one_message_stand_under_each_other() -> None:
    line = short("gpu-a", entry("one\ntwo", syslog_identifier="x"), timezone=UTC)
    assert line.splitlines() == ["Dec 01 04:12:33 gpu-a x: one", " " * 25 + "two"]


@fault("I10", how="a second line of an entry that looks like a gap line", result="indented, unlike a gap")
def test_a_gap_looks_like_nothing_a_host_can_write() -> None:
    gap = JournalGap(at=AT, reason="journald suppressed 3 messages", unit=A, entries_lost=3)
    line = "-- Dec 01 04:12:33 gpu-a: a.service: journald suppressed 3 messages --"
    assert short("gpu-a", gap, timezone=UTC) == line
    imitation = short("gpu-a", entry(f"x\n{line}"), timezone=UTC)
    assert line not in imitation.splitlines()


@given(st.text(), st.text(max_size=20), st.text(max_size=20))
def test_no_text_of_a_host_acts_on_a_terminal(message: str, identifier: str, host: str) -> None:
    line = short(host, entry(message, syslog_identifier=identifier))
    assert not [char for char in line if char not in "\t\n" and unicodedata.category(char) in UNSEEN_CATEGORIES]


def test_colours_only_when_asked_for() -> None:
    error = entry("bad", priority=Priority.ERR)
    assert "\x1b" not in short("h", error)
    assert short("h", error, color=True).startswith("\x1b[31m")
    assert short("h", error, color=True).endswith("\x1b[0m")


@given(st.text())
def test_a_document_is_one_line_of_ascii_and_keeps_the_text(message: str) -> None:
    line = document("gpu-a", entry(message))
    assert line.isascii()
    assert "\n" not in line
    assert json.loads(line)["message"] == message


def test_documents_have_the_contract_s_form() -> None:
    found = json.loads(document("gpu-a", entry("text", unit=A, pid=1)))
    assert found["schema"] == 1
    assert found["at"] == "2026-12-01T04:12:33.000001Z"
    assert (found["kind"], found["host"], found["unit"], found["priority"]) == ("entry", "gpu-a", A, 6)
    gap = json.loads(document("gpu-a", JournalGap(at=AT, reason="why")))
    assert (gap["kind"], gap["reason"], gap["entries_lost"], gap["unit"]) == ("gap", "why", None, None)


@given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 5), st.integers(0, 9)), max_size=40))
def test_no_item_is_lost_and_no_host_s_order_changes(steps: list[tuple[str, int, int]]) -> None:
    merge, now, out = LogMerge(), 0.0, []
    sent: dict[str, list[str]] = {"a": [], "b": []}
    for number, (host, wait, stamp) in enumerate(steps):
        now += wait / 10
        merge.put(host, [entry(str(number), stamp)], now)
        sent[host].append(str(number))
        out += merge.due(now)
    out += merge.rest()
    for host in "ab":
        assert [item.message for at, item in out if at == host and isinstance(item, JournalEntry)] == sent[host]
    assert not merge


def test_items_wait_a_moment_for_older_ones_of_other_hosts() -> None:
    merge = LogMerge(window_seconds=0.3)
    merge.put("a", [entry("2", 2)], 0.0)
    merge.put("b", [entry("1", 1), entry("3", 3)], 0.2)
    assert merge.due(0.2) == []
    assert [host for host, _ in merge.due(0.3)] == ["b", "a"]
    assert [host for host, _ in merge.due(0.5)] == ["b"]


async def test_the_histories_of_all_hosts_in_one_order() -> None:
    a, b = FakeHost("gpu-a"), FakeHost("gpu-b")
    for number in range(3):
        a.log(f"a {number}")
        b.now_usec = a.now_usec + 10
        b.log(f"b {number}")
        a.now_usec = b.now_usec + 10
    lines, warnings, code = await printed(a, b, options=LogOptions(lines=2))
    assert [line.rpartition(": ")[2] for line in lines] == ["a 1", "b 1", "a 2", "b 2"]
    assert (warnings, code) == ([], ExitCode.OK)


async def test_one_host_away_still_prints_the_others() -> None:
    a, b = FakeHost("gpu-a"), FakeHost("gpu-b")
    a.log("here")
    b.cut()
    lines, warnings, code = await printed(a, b)
    assert len(lines) == 1
    assert warnings == ["gpu-b: cut"]
    assert code is ExitCode.UNKNOWN


async def test_nothing_found_is_said() -> None:
    lines, warnings, code = await printed(FakeHost())
    assert (lines, warnings, code) == ([], ["no entries for a.service on gpu-a"], ExitCode.OK)


async def test_a_refused_login_ends_following() -> None:
    @asynccontextmanager
    async def refused() -> AsyncIterator[FakeHost]:
        await _refuse()
        yield FakeHost()

    warnings: list[str] = []
    options = LogOptions(follow=True)
    code = await logs([LogSource("gpu-a", refused)], A, options, lambda _text: None, warnings.append)
    assert (warnings, code) == (["gpu-a: permission denied"], ExitCode.UNKNOWN)


async def _refuse() -> None:
    raise AuthDenied("gpu-a", "permission denied")


async def test_a_host_that_never_answers_costs_its_time_limit_only() -> None:
    @asynccontextmanager
    async def silent() -> AsyncIterator[FakeHost]:
        await asyncio.Event().wait()
        yield FakeHost()

    warnings: list[str] = []
    options = LogOptions(timeout_seconds=0.01)
    code = await logs([LogSource("gpu-a", silent)], A, options, lambda _text: None, warnings.append)
    assert (warnings, code) == (["gpu-a: no answer within 0.01 s"], ExitCode.UNKNOWN)


async def _following(
    host: FakeHost, act: Callable[[list[str]], None], until: str, options: LogOptions
) -> tuple[list[str], list[str]]:
    lines: list[str] = []
    warnings: list[str] = []
    done = asyncio.Event()

    def write(text: str) -> None:
        lines.extend(line.rpartition(": ")[2] for line in text.splitlines())
        act(lines)
        if until in lines:
            done.set()

    async with asyncio.timeout(10), asyncio.TaskGroup() as group:
        task = group.create_task(logs([source(host)], A, options, write, warnings.append))
        await done.wait()
        task.cancel()
    assert host.followers == []
    return lines, warnings


async def test_following_goes_on_after_the_history_and_over_a_lost_link() -> None:
    host = FakeHost()
    for number in range(3):
        host.log(f"line {number}")

    def act(lines: list[str]) -> None:
        if lines[-1] == "line 2":
            host.log("line 3")
        if lines[-1] == "line 3":
            host.cut()
            host.log("line 4")
            host.join()

    lines, warnings = await _following(host, act, "line 4", LogOptions(follow=True, lines=2))
    assert lines == ["line 1", "line 2", "line 3", "line 4"]
    assert warnings == ["gpu-a: cut"]


@fault("H4", how="the reader of the output is gone", result="everything ends, nothing stays on the host")
async def test_a_closed_pipe_ends_everything() -> None:
    def write(_text: str) -> None:
        raise BrokenPipeError

    host = FakeHost()
    host.log("line")
    with pytest.raises(BrokenPipeError):
        await logs([source(host)], A, LogOptions(follow=True), write, lambda _line: None)
    assert host.followers == []
    assert asyncio.all_tasks() == {asyncio.current_task()}


def test_the_full_form_says_zone_unit_and_level_and_cat_the_text_alone() -> None:
    item = entry("text\x1b[2J", unit=A, pid=1, syslog_identifier="p", priority=Priority.WARNING)
    assert full("gpu-a", item, timezone=UTC) == "2026-12-01T04:12:33.000001+00:00 gpu-a a.service warning p[1]: text"
    assert cat("gpu-a", item) == "text"
    assert short("gpu-a", item, timezone=UTC, has_unit=True).startswith("Dec 01 04:12:33 gpu-a a p[1]:")


def test_a_host_has_the_same_colour_at_all_times_and_errors_keep_theirs() -> None:
    fine, bad = entry("fine"), entry("bad", priority=Priority.ERR)
    hues = {short("gpu-a", fine, color=True).split("gpu-a")[0][-5:] for _ in range(3)}
    assert len(hues) == 1
    assert "\x1b[3" in hues.pop()
    assert short("gpu-a", bad, color=True).count("\x1b") == 2


async def test_several_units_of_a_host_are_one_stream_and_kernel_lines_that_matter_are_mixed_in() -> None:
    host = FakeHost()
    host.log("a 1")
    host.log("b 1", "b.service")
    host.log("NVRM: Xid (PCI:0000:3b:00): 79, gone", None, _TRANSPORT="kernel", SYSLOG_IDENTIFIER="kernel")
    host.log("usb 1-1: new device", None, _TRANSPORT="kernel", SYSLOG_IDENTIFIER="kernel")
    host.log("other", "c.service")
    host.log("a 2")
    both = replace(source(host), units=(A, "b.service"))
    lines: list[str] = []
    options = LogOptions(has_units=True, kernel=True)
    await logs([both], "a b", options, lines.append, lines.append)
    texts = [line.split("]: ")[1] for line in "".join(lines).splitlines()]
    assert texts == ["a 1", "b 1", "NVRM: Xid (PCI:0000:3b:00): 79, gone", "a 2"]


async def test_clocks_that_are_apart_are_said() -> None:
    host = FakeHost("gpu-b")
    host.log("text")
    now = datetime.now(UTC).timestamp()
    host.answers["date", "+%s.%N"] = Completed("gpu-b", ("date",), 0, f"{now + 90:.9f}\n".encode(), b"")
    _, warnings, _ = await printed(host, options=LogOptions(tells_skew=True))
    assert len(warnings) == 1
    assert re.match(r"gpu-b: its clock is (89|90)\.\d s ahead of this machine's", warnings[0])
    assert skew_seconds("rubbish", 1, 2) is None
