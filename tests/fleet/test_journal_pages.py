"""Pages of a real journal: both ways from a cursor, around a moment, by pattern, of the manager and the kernel."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from dflashtui.errors import CommandFailed
from dflashtui.model.journal import JournalEntry
from dflashtui.model.journal_query import JournalQuery
from dflashtui.ops.runs import RUN_IDS, runs_of
from dflashtui.source.journal import JournalReader
from dflashtui.source.journal_access import journal_access
from dflashtui.source.journal_argv import KERNEL
from dflashtui.source.kernel import MATTERS
from dflashtui.tui.log.record import record_of
from tests.fleet.journal_reader import until, way_to

if TYPE_CHECKING:
    from dflashtui.model.journal import JournalItem
    from tests.fleet.harness.fleet import TestFleet

HOST = "gpu-b"
FLOOD = "flood.service"
WRITER = "bad-input.service"
BAD_INPUT = """
import os
out = lambda data: os.write(1, data + b"\\n")
out(b"start")
out(b"x" * 1_000_000)
out(b"nul \\0 in it")
out(b"bytes \\xff\\xfe\\x80 no text")
out(b"a: 10%|\\ra: 20%|\\ra: 100%|done")
out(b"\\x1b]0;title\\x07\\x1b[2J\\x1b[31mred\\x1b[0m")
out("rtl \\u202e \\u05d0 zero\\u200bwidth".encode())
out(b"end")
"""


def numbers(items: tuple[JournalItem, ...]) -> list[int]:
    texts = [item.message for item in items if isinstance(item, JournalEntry)]
    return [int(text.removeprefix("line ")) for text in texts if text.startswith("line ")]


async def test_pages_join_without_a_hole_in_both_directions_and_around_a_moment(fleet: TestFleet) -> None:
    fleet.write_file(HOST, "/etc/fleet/flood.env", "LINES=900\nRATE=0\n")
    began = datetime.now(UTC) - timedelta(milliseconds=1)
    fleet.start(HOST, FLOOD)
    await until(lambda: fleet.show(HOST, FLOOD)["ActiveState"] == "inactive")
    fleet.check(HOST, "journalctl", "--sync")
    async with way_to(fleet, HOST) as transport:
        reader = JournalReader(transport, await journal_access(transport))
        newest = await reader.page(FLOOD, JournalQuery(lines=300))
        older = await reader.page(FLOOD, JournalQuery(lines=300, before=newest[0].cursor))
        again = await reader.page(FLOOD, JournalQuery(lines=300, after=older[-1].cursor))
        assert [item.cursor for item in again] == [item.cursor for item in newest]
        assert sorted(numbers((*older, *newest))) == list(range(901 - len(numbers((*older, *newest))), 901))
        start = await reader.page(FLOOD, JournalQuery(lines=50, since=began))
        assert numbers(start)[:3] == [1, 2, 3]
        assert len(start) == 50
        before = await reader.page(FLOOD, JournalQuery(lines=5, until=older[0].at))
        assert before[-1].at <= older[0].at
        found = await reader.page(FLOOD, JournalQuery(lines=1, since=began, until=newest[-1].at, grep="line 12$"))
        assert numbers(found) == [12]
        with pytest.raises(CommandFailed):
            await reader.page(FLOOD, JournalQuery(lines=1, grep="(unclosed"))
        runs = runs_of(await reader.page(FLOOD, JournalQuery(lines=40, message_ids=RUN_IDS)))
        assert (runs[0].result, runs[0].is_good) == ("success", True)
        fields = await reader.fields(newest[-1].cursor or "")
        assert fields["__CURSOR"] == newest[-1].cursor
        assert "_CMDLINE" in fields or "CODE_FILE" in fields


async def test_kernel_lines_that_matter_are_a_journal_of_their_own(fleet: TestFleet) -> None:
    fleet.log_kernel(HOST, "NVRM: Xid (PCI:0000:3b:00): 31, pid=471, name=python3")
    fleet.log_kernel(HOST, "usb 1-1: new device")
    fleet.check(HOST, "journalctl", "--sync")
    async with way_to(fleet, HOST) as transport:
        reader = JournalReader(transport, await journal_access(transport))
        newest = await reader.page(KERNEL, JournalQuery(lines=1, grep=MATTERS.pattern))
    assert [item.message[:20] for item in newest if isinstance(item, JournalEntry)] == ["NVRM: Xid (PCI:0000:"]


async def test_the_worst_that_a_service_can_write_is_read_and_drawn_as_text(fleet: TestFleet) -> None:
    fleet.write_file(HOST, "/run/bad_input.py", BAD_INPUT)
    fleet.check(HOST, "systemd-run", "--wait", "-q", f"--unit={WRITER}", "python3", "/run/bad_input.py")
    fleet.check(HOST, "journalctl", "--sync")
    async with way_to(fleet, HOST) as transport:
        reader = JournalReader(transport, await journal_access(transport))
        items = await reader.page(WRITER, JournalQuery(lines=200))
    texts = [text for item in items for text in record_of(0, item).texts]
    whole = "".join(item.message for item in items if isinstance(item, JournalEntry))
    assert whole.count("x") >= 1_000_000
    assert {"start", "end", "a: 100%|done", "red"} <= set(texts)
    assert any("\\xff\\xfe\\x80" in text for text in texts)
    assert any(text.startswith("rtl \\u202e") and "zero\\u200bwidth" in text for text in texts)
    assert all(char.isprintable() for text in texts for char in text)
