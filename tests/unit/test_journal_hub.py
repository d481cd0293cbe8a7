from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

import pytest

from dflashtui.errors import Unreachable
from dflashtui.fleet.journal_hub import JournalHub
from dflashtui.model.journal import JournalEntry, JournalGap
from dflashtui.source.journal import JournalReader
from tests.faults.marks import fault
from tests.unit.journal_fakes import FakeHost, line_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from dflashtui.model.journal import JournalItem

SECONDS = 5
A, B = "a.service", "b.service"


@asynccontextmanager
async def followed(hub: JournalHub, host: FakeHost) -> AsyncIterator[asyncio.Task[None]]:
    """The hub runs over one connection after the other; leaving it ends it."""

    async def again_and_again() -> None:
        while True:
            with suppress(Exception):
                await hub.run(host)
            await until(lambda: not host.is_cut)

    async with asyncio.TaskGroup() as group:
        task = group.create_task(again_and_again())
        try:
            await until(lambda: bool(host.followers) or hub.problem is not None)
            yield task
        finally:
            task.cancel()


async def until(holds: Callable[[], bool]) -> None:
    async with asyncio.timeout(SECONDS):
        while not holds():  # noqa: ASYNC110 - a fake has no event to wait for
            await asyncio.sleep(0.002)


class Reader:
    """Collects what a subscription gives."""

    def __init__(self, items: AsyncIterator[tuple[JournalItem, ...]]) -> None:
        self._items = items
        self.seen: list[JournalItem] = []
        self.batches = 0

    async def read(self) -> tuple[JournalItem, ...]:
        async with asyncio.timeout(SECONDS):
            batch = await anext(self._items)
        self.seen += batch
        self.batches += 1
        return batch

    async def until(self, message: str) -> None:
        while message not in self.messages:
            await self.read()

    @property
    def messages(self) -> list[str]:
        return [item.message for item in self.seen if isinstance(item, JournalEntry)]

    @property
    def gaps(self) -> list[str]:
        return [item.text for item in self.seen if isinstance(item, JournalGap)]


@pytest.fixture
def host() -> FakeHost:
    return FakeHost()


@pytest.fixture
def hub() -> JournalHub:
    return JournalHub("gpu-a")


async def test_the_newest_lines_come_at_once_and_live_ones_after_them(hub: JournalHub, host: FakeHost) -> None:
    for number in range(10):
        host.log(f"old {number}")
    hub.watch([A])
    async with followed(hub, host), hub.subscribe(A, lines=3) as items:
        reader = Reader(items)
        assert [item.message for item in await reader.read() if isinstance(item, JournalEntry)] == [
            "old 7", "old 8", "old 9",
        ]  # fmt: skip
        host.log("new")
        host.log("other", B)
        host.log("newer")
        await reader.until("newer")
    assert reader.messages == ["old 7", "old 8", "old 9", "new", "newer"]
    assert reader.gaps == []


async def test_a_cut_loses_nothing_and_repeats_nothing(hub: JournalHub, host: FakeHost) -> None:
    host.log("line 0")
    hub.watch([A])
    async with followed(hub, host), hub.subscribe(A) as items:
        reader = Reader(items)
        await reader.read()
        host.log("line 1")
        await reader.until("line 1")
        host.cut()
        for number in range(2, 100):
            host.log(f"line {number}")
        host.join()
        host.log("line 100")
        await reader.until("line 100")
    assert reader.messages == [f"line {number}" for number in range(101)]
    assert reader.gaps == []


async def test_what_was_vacuumed_during_a_cut_is_a_gap_in_its_place(hub: JournalHub, host: FakeHost) -> None:
    hub.watch([A])
    async with followed(hub, host), hub.subscribe(A) as items:
        reader = Reader(items)
        host.log("before")
        await reader.until("before")
        host.cut()
        for number in range(50):
            host.log(f"gone {number}")
        host.log("kept")
        host.vacuum(keep=1)
        host.join()
        await reader.until("kept")
    assert reader.messages == ["before", "kept"]
    assert [type(item).__name__ for item in reader.seen][-2:] == ["JournalGap", "JournalEntry"]
    assert reader.gaps == ["the journal was vacuumed meanwhile: up to 50 entries of all units together are gone"]


async def test_another_journal_and_another_boot_are_told(hub: JournalHub, host: FakeHost) -> None:
    hub.watch([A])
    async with followed(hub, host), hub.subscribe(A) as items:
        reader = Reader(items)
        host.log("before")
        await reader.until("before")
        host.cut()
        host.vacuum(keep=0)
        host.seqnum_id, host.seqnum = "6" * 32, 0
        host.reboot()
        host.log("after")
        host.join()
        await reader.until("after")
    assert reader.gaps == [
        "another journal than before: the old one is gone, or the host was set up anew",
        "the host was restarted: its last lines before may be missing",
    ]


@fault("D4", how="a place in the future", result="the view goes on")
async def test_a_clock_set_back_does_not_leave_the_view_empty_for_ever(hub: JournalHub, host: FakeHost) -> None:
    hub.watch([A])
    async with followed(hub, host), hub.subscribe(A) as items:
        reader = Reader(items)
        host.log("before")
        await reader.until("before")
        host.cut()
        host.vacuum(keep=0)
        host.seqnum_id, host.seqnum, host.now_usec = "6" * 32, 0, host.now_usec - 3600 * 1_000_000
        host.join()
        host.log("after")
        await reader.until("after")
        host.log("live")
        await reader.until("live")
    assert reader.messages == ["before", "after", "live"]
    assert len(reader.gaps) == 1
    assert "in the host's future" in reader.gaps[0]


async def test_a_cursor_that_journalctl_refuses_is_dropped(hub: JournalHub, host: FakeHost) -> None:
    hub.resume.move("rubbish", None, 0.0)
    host.log("old")
    hub.watch([A])
    async with followed(hub, host), hub.subscribe(A) as items:
        reader = Reader(items)
        await reader.until("old")
        host.log("live")
        await reader.until("live")
    assert reader.messages == ["old", "live"]


async def test_units_added_while_following_lose_and_repeat_nothing(hub: JournalHub, host: FakeHost) -> None:
    hub.watch([A])
    host.log("b 0", B)
    async with followed(hub, host), hub.subscribe(A) as a_items:
        a = Reader(a_items)
        await a.read()
        host.log("a 1")
        async with hub.subscribe(B) as b_items:
            b = Reader(b_items)
            host.log("b 1", B)
            await b.until("b 1")
            host.log("a 2")
            host.log("b 2", B)
            await b.until("b 2")
        host.log("a 3")
        await a.until("a 3")
    assert a.messages == ["a 1", "a 2", "a 3"]
    assert b.messages == ["b 0", "b 1", "b 2"]
    assert a.gaps == b.gaps == []


async def test_a_reader_who_wants_no_old_lines_misses_no_new_one(hub: JournalHub, host: FakeHost) -> None:
    async with followed(hub, host), hub.subscribe(A, lines=0) as items:
        reader = Reader(items)
        host.log("old")
        assert await reader.read() == ()
        host.log("new")
        await reader.until("new")
    assert reader.messages[-1] == "new"


async def test_a_second_reader_is_served_without_asking_the_host(hub: JournalHub, host: FakeHost) -> None:
    for number in range(5):
        host.log(f"line {number}")
    hub.watch([A])
    async with followed(hub, host):
        async with hub.subscribe(A, lines=5) as items:
            await Reader(items).read()
        asked = len(host.asked)
        async with hub.subscribe(A, lines=5) as items:
            assert len(await Reader(items).read()) == 5
        assert len(host.asked) == asked


async def test_what_is_known_is_shown_while_the_host_is_away(hub: JournalHub, host: FakeHost) -> None:
    hub.watch([A])
    async with followed(hub, host):
        host.log("known")
        async with hub.subscribe(A, lines=1) as items:
            await Reader(items).until("known")
        host.cut()
        await until(lambda: not host.followers)
        async with hub.subscribe(A, lines=50) as items:
            reader = Reader(items)
            await reader.read()
            assert reader.messages == ["known"]
            host.log("meanwhile")
            host.join()
            await reader.until("meanwhile")
    assert reader.messages == ["known", "meanwhile"]


async def test_history_read_while_the_follower_lags_is_not_repeated(hub: JournalHub, host: FakeHost) -> None:
    hub.watch([A])
    async with followed(hub, host):
        wants, host.followers[0].wants = host.followers[0].wants, lambda _entry: False
        for number in range(6):
            host.log(f"line {number}")
        async with hub.subscribe(A, lines=3) as items:
            reader = Reader(items)
            await reader.read()
            host.followers[0].wants = wants
            for entry in host.entries:
                host.followers[0].chunks.put_nowait(line_of(entry))
            host.log("line 6")
            await reader.until("line 6")
    assert reader.messages == ["line 3", "line 4", "line 5", "line 6"]


async def test_kernel_entries_go_to_the_owner_and_to_no_unit(host: FakeHost) -> None:
    kernel: list[str] = []
    hub = JournalHub("gpu-a", on_kernel=lambda entries: kernel.extend(entry.message for entry in entries))
    hub.watch([A])
    async with followed(hub, host), hub.subscribe(A) as items:
        reader = Reader(items)
        await reader.read()
        host.log("NVRM: Xid (PCI:0000:1b:00): 79, GPU has fallen off the bus.", None, _TRANSPORT="kernel")
        host.log("NVRM: Xid forged", None, _TRANSPORT="syslog", SYSLOG_IDENTIFIER="kernel")
        host.log("line")
        await reader.until("line")
    assert kernel == ["NVRM: Xid (PCI:0000:1b:00): 79, GPU has fallen off the bus."]
    assert reader.messages == ["line"]


async def test_no_permission_is_told_and_does_not_end_the_link(host: FakeHost) -> None:
    host.uid, host.groups = 1000, "ops"
    problems: list[str | None] = []
    hub = JournalHub("gpu-a", on_problem=problems.append)
    hub.watch([A])
    async with followed(hub, host) as task, hub.subscribe(A) as items:
        reader = Reader(items)
        await until(lambda: bool(problems))
        await reader.read()
        assert not task.done()
        with pytest.raises(Exception, match="add ops to group systemd-journal"):
            await hub.history(A, lines=1)
    assert problems == ["may not read the journal: add ops to group systemd-journal (usermod -aG systemd-journal ops)"]
    assert len(reader.gaps) == 1
    assert "add ops to group systemd-journal" in reader.gaps[0]


async def test_a_follower_that_ends_by_itself_is_started_again(hub: JournalHub, host: FakeHost) -> None:
    hub.watch([A])
    async with followed(hub, host), hub.subscribe(A) as items:
        reader = Reader(items)
        host.log("one")
        await reader.until("one")
        host.followers[0].end(137, b"Killed")
        await until(lambda: not host.followers)
        host.log("two")
        await reader.until("two")
    assert reader.messages == ["one", "two"]


async def test_history_without_a_connection_is_refused(hub: JournalHub) -> None:
    with pytest.raises(Unreachable):
        await hub.history(A, lines=10)


async def test_a_reader_that_leaves_at_any_moment_leaves_nothing(hub: JournalHub, host: FakeHost) -> None:
    host.log("line")
    for steps in range(12):
        async with followed(hub, host):
            reading = asyncio.ensure_future(_read_for_ever(hub))
            for _ in range(steps):
                await asyncio.sleep(0)
            reading.cancel()
            with suppress(asyncio.CancelledError):
                await reading
        assert host.followers == []
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def _read_for_ever(hub: JournalHub) -> None:
    async with hub.subscribe(A) as items:
        async for _ in items:
            pass


@pytest.mark.parametrize("lines", [0, 10])
async def test_no_line_is_missed_or_waits_while_the_host_is_asked_where_they_are(
    host: FakeHost, monkeypatch: pytest.MonkeyPatch, lines: int
) -> None:
    answered = asyncio.Event()

    async def slowly(*_: object) -> str:
        await answered.wait()
        return "in memory alone"

    monkeypatch.setattr(JournalReader, "whereabouts", slowly)
    hub = JournalHub("gpu-a")
    hub.watch({A})
    async with followed(hub, host), hub.subscribe(A, lines=lines) as items:
        reader = Reader(items)
        await reader.read()
        host.log("first")
        await reader.until("first")
        assert reader.gaps == []
        answered.set()
        host.log("second")
        await reader.until("second")
        if lines:
            while not reader.gaps:
                await reader.read()
    assert reader.gaps == ["in memory alone"] * bool(lines)
