"""The journal of real hosts: journald and journalctl 252 behind sshd."""

from __future__ import annotations

import asyncio
import itertools
import json
import time
from typing import TYPE_CHECKING

import pytest

from dflashtui.errors import SourceUnavailable
from dflashtui.exit_code import ExitCode
from dflashtui.fleet.journal_hub import JournalHub
from dflashtui.model.journal import JournalEntry
from dflashtui.ops.logs import logs
from dflashtui.ops.logs_tail import LogOptions, LogSource
from dflashtui.source.journal_access import journal_access
from dflashtui.source.journal_reading import REBOOTED
from tests.faults.marks import fault
from tests.fleet.journal_reader import SECONDS, Reader, kept_running, until, way_to

if TYPE_CHECKING:
    from tests.fleet.harness.fleet import TestFleet

HOST = "gpu-b"
COUNTER = "counter.service"
CUT_SECONDS = 20


@pytest.fixture
def hub() -> JournalHub:
    return JournalHub(HOST)


def run_of(fleet: TestFleet) -> str:
    """The counter's present run: the journal has earlier ones."""
    return fleet.show(HOST, COUNTER)["InvocationID"]


def last_number(fleet: TestFleet) -> int:
    """What the counter has written last, by the journal's own word."""
    lines = fleet.check(HOST, "journalctl", "-q", "-o", "cat", "-n", "5", f"_SYSTEMD_UNIT={COUNTER}").decode()
    return max((int(line.removeprefix("line ")) for line in lines.splitlines()), default=0)


def lost_or_repeated(numbers: list[int]) -> list[tuple[int, int]]:
    return [(before, after) for before, after in itertools.pairwise(numbers) if after != before + 1]


async def test_a_cut_of_20_seconds_loses_nothing_and_repeats_nothing(fleet: TestFleet, hub: JournalHub) -> None:
    fleet.start(HOST, COUNTER)
    hub.watch([COUNTER])
    async with kept_running(hub, fleet, HOST), hub.subscribe(COUNTER) as items:
        reader = Reader(items, run_of(fleet))
        await reader.until(lambda: len(reader.numbers) > 20)
        cut_at, began = last_number(fleet), time.monotonic()
        fleet.cut(HOST)
        await until(lambda: time.monotonic() - began >= CUT_SECONDS and last_number(fleet) > cut_at)
        joined_at = last_number(fleet)
        fleet.join(HOST)
        await reader.until(lambda: reader.numbers[-1] > joined_at + 50)
    assert lost_or_repeated(reader.numbers) == []
    assert reader.numbers[-1] > cut_at
    assert reader.gaps == []


async def test_what_was_vacuumed_during_a_cut_is_a_gap(fleet: TestFleet, hub: JournalHub) -> None:
    fleet.start(HOST, COUNTER)
    hub.watch([COUNTER])
    async with kept_running(hub, fleet, HOST) as lost, hub.subscribe(COUNTER) as items:
        reader = Reader(items, run_of(fleet))
        await reader.until(lambda: len(reader.numbers) > 20)
        fleet.cut(HOST)
        async with asyncio.timeout(SECONDS):
            await lost.wait()
        cut_at = last_number(fleet)
        await until(lambda: last_number(fleet) > cut_at + 200)
        fleet.check(HOST, "journalctl", "--rotate", "--vacuum-files=1")
        await until(lambda: last_number(fleet) > cut_at + 300)
        fleet.join(HOST)
        await reader.until(lambda: reader.numbers[-1] > cut_at + 300)
    holes = lost_or_repeated(reader.numbers)
    assert len(holes) == 1
    assert "vacuumed" in reader.gaps[0]


@fault("D3", how="follower stopped, journal vacuumed", result="a gap line")
async def test_a_follower_stopped_while_its_journal_is_vacuumed_tells_a_gap(fleet: TestFleet, hub: JournalHub) -> None:
    fleet.start(HOST, COUNTER)
    hub.watch([COUNTER])
    async with kept_running(hub, fleet, HOST), hub.subscribe(COUNTER) as items:
        reader = Reader(items, run_of(fleet))
        await reader.until(lambda: len(reader.numbers) > 20)
        await until(lambda: fleet.exec(HOST, "pkill", "-STOP", "-f", "journalctl --follow").returncode == 0)
        stopped_at = last_number(fleet)
        await until(lambda: last_number(fleet) > stopped_at + 150)
        fleet.check(HOST, "journalctl", "--rotate", "--vacuum-files=1")
        await until(lambda: last_number(fleet) > stopped_at + 200)
        fleet.check(HOST, "pkill", "-CONT", "-f", "journalctl --follow")
        await reader.until(lambda: reader.numbers[-1] > stopped_at + 200)
    holes = lost_or_repeated(reader.numbers)
    assert len(holes) == 1
    assert len(reader.gaps) == 1
    assert "vacuumed" in reader.gaps[0]


@fault("D6", how="journald is killed", result="nothing is lost")
async def test_a_killed_journald_loses_nothing(fleet: TestFleet, hub: JournalHub) -> None:
    fleet.start(HOST, COUNTER)
    hub.watch([COUNTER])
    async with kept_running(hub, fleet, HOST), hub.subscribe(COUNTER) as items:
        reader = Reader(items, run_of(fleet))
        await reader.until(lambda: len(reader.numbers) > 20)
        fleet.check(HOST, "systemctl", "kill", "--signal=KILL", "systemd-journald.service")
        killed_at = reader.numbers[-1]
        await reader.until(lambda: reader.numbers[-1] > killed_at + 200)
    assert lost_or_repeated(reader.numbers) == []
    assert any("journald was started" in gap for gap in reader.gaps)


@fault("D2", how="more lines than the limit", result="told as suppressed")
async def test_what_journald_suppresses_is_told(fleet: TestFleet, hub: JournalHub) -> None:
    unit = "worker@suppressed.service"
    script = "i=0; while [ $i -lt 500 ]; do echo line $i; i=$((i+1)); done; sleep 3; echo late; sleep 60"
    fleet.write_file(
        HOST,
        "/run/systemd/system/worker@suppressed.service.d/flood.conf",
        "[Service]\nLogRateLimitIntervalSec=2s\nLogRateLimitBurst=20\nExecStart=\n"
        f"ExecStart=/bin/sh -c '{script.replace('$', '$$')}'\n",
    )
    fleet.check(HOST, "systemctl", "daemon-reload")
    hub.watch([unit])
    async with kept_running(hub, fleet, HOST), hub.subscribe(unit) as items:
        reader = Reader(items)
        await reader.read()
        fleet.start(HOST, unit)
        await reader.until(lambda: "late" in reader.messages)
    given = len(reader.numbers)
    assert given < 500
    assert f"journald suppressed {500 - given} messages (its rate limit)" in reader.gaps
    fleet.check(HOST, "rm", "-r", "/run/systemd/system/worker@suppressed.service.d")
    fleet.check(HOST, "systemctl", "daemon-reload")


@fault("D1", how="a flood from one unit", result="counted; the quiet unit is heard")
async def test_a_flood_is_counted_and_starves_nobody(fleet: TestFleet, hub: JournalHub) -> None:
    count = 150_000
    fleet.write_file(HOST, "/etc/fleet/flood.env", f"LINES={count}\nRATE=0\n")
    fleet.start(HOST, COUNTER)
    hub.watch([COUNTER, "flood.service"])
    async with (
        kept_running(hub, fleet, HOST),
        hub.subscribe(COUNTER) as quiet_items,
        hub.subscribe("flood.service", lines=0) as flood_items,
    ):
        quiet = Reader(quiet_items, run_of(fleet))
        await quiet.until(lambda: len(quiet.numbers) > 20)
        fleet.start(HOST, "flood.service")
        flood = Reader(flood_items, fleet.show(HOST, "flood.service")["InvocationID"])
        async with asyncio.TaskGroup() as group:
            reading = group.create_task(flood.until(lambda: len(flood.numbers) + flood.lost >= count))
            await quiet.until(reading.done)
    assert flood.numbers == sorted(set(flood.numbers))
    assert len(lost_or_repeated(flood.numbers)) <= len(flood.gaps)
    assert flood.lost == hub.dropped_count
    assert lost_or_repeated(quiet.numbers) == []
    assert quiet.gaps == []


@fault("D8", how="binary and oversized messages", result="they arrive whole")
async def test_binary_and_oversized_messages_arrive_whole(fleet: TestFleet, hub: JournalHub) -> None:
    unit = "worker@odd.service"
    program = (
        "import sys,time;o=sys.stdout.buffer;"
        "o.write(b'x'*60000+b'.END\\n');o.write(b'bad \\xff\\x00\\x1b[31m end\\n');o.write(b'done\\n');o.flush();"
        "time.sleep(60)"
    )
    fleet.write_file(
        HOST,
        "/run/systemd/system/worker@odd.service.d/odd.conf",
        f'[Service]\nExecStart=\nExecStart=/usr/bin/python3 -c "{program.replace(chr(92), chr(92) * 2)}"\n',
    )
    fleet.check(HOST, "systemctl", "daemon-reload")
    hub.watch([unit])
    async with kept_running(hub, fleet, HOST):
        fleet.start(HOST, unit)
        await until(lambda: b"done" in fleet.check(HOST, "journalctl", "-q", "-o", "cat", "-u", unit))
        async with hub.subscribe(unit) as items:
            reader = Reader(items)
            await reader.until(lambda: "done" in reader.messages)
    assert "x" * 60000 + ".END" in reader.messages
    # a NUL ends a line of stdout, as a newline does
    assert "bad \\xff" in reader.messages
    assert "\x1b[31m end" in reader.messages
    fleet.check(HOST, "rm", "-r", "/run/systemd/system/worker@odd.service.d")
    fleet.check(HOST, "systemctl", "daemon-reload")


async def test_a_unit_added_while_following_disturbs_nobody(fleet: TestFleet, hub: JournalHub) -> None:
    added = "oneshot.service"
    fleet.start(HOST, COUNTER)
    hub.watch([COUNTER])
    async with kept_running(hub, fleet, HOST), hub.subscribe(COUNTER) as items:
        reader = Reader(items, run_of(fleet))
        await reader.until(lambda: len(reader.numbers) > 20)
        async with hub.subscribe(added) as more_items:
            other = Reader(more_items)
            await other.read()
            before = len(other.messages)
            fleet.start(HOST, added)
            await other.until(lambda: "done" in other.messages[before:])
        await reader.until(lambda: reader.numbers[-1] > last_number(fleet) - 5)
        hub.watch([COUNTER, added])
        seen = reader.numbers[-1]
        await reader.until(lambda: reader.numbers[-1] > seen + 50)
    assert lost_or_repeated(reader.numbers) == []
    assert reader.gaps == []


async def test_the_last_200_lines_come_at_once(fleet: TestFleet, hub: JournalHub) -> None:
    fleet.write_file(HOST, "/etc/fleet/flood.env", "LINES=3000\nRATE=0\n")
    fleet.start(HOST, "flood.service")
    await until(lambda: b"line 3000" in fleet.check(HOST, "journalctl", "-q", "-o", "cat", "-u", "flood.service"))
    await until(lambda: fleet.show(HOST, "flood.service")["ActiveState"] == "inactive")
    truth = fleet.journal(HOST, "flood.service", "-n", "200")
    async with kept_running(hub, fleet, HOST), hub.subscribe("flood.service") as items:
        first = await Reader(items).read()
    assert [item.cursor for item in first] == [entry["__CURSOR"] for entry in truth]


async def test_paging_back_meets_every_line_once(fleet: TestFleet, hub: JournalHub) -> None:
    fleet.write_file(HOST, "/etc/fleet/flood.env", "LINES=1000\nRATE=0\n")
    fleet.start(HOST, "flood.service")
    await until(lambda: fleet.show(HOST, "flood.service")["ActiveState"] == "inactive")
    fleet.check(HOST, "journalctl", "--sync")
    newest = fleet.journal(HOST, "flood.service", "-n", "1")[0]
    invocation_id = newest.get("_SYSTEMD_INVOCATION_ID") or newest["INVOCATION_ID"]
    of_run = (f"_SYSTEMD_INVOCATION_ID={invocation_id}", "+", f"INVOCATION_ID={invocation_id}", "_PID=1")
    output = fleet.check(HOST, "journalctl", "-q", "-o", "json", *of_run)
    truth = [json.loads(line)["__CURSOR"] for line in output.splitlines()]
    assert len(truth) >= 1000
    async with kept_running(hub, fleet, HOST), hub.subscribe("flood.service", lines=1) as items:
        await Reader(items).read()
        whole = await hub.history("flood.service", lines=5000, invocation_id=invocation_id)
        pages: list[str | None] = []
        while len(pages) < len(truth):
            before = pages[0] if pages else None
            page = await hub.history("flood.service", lines=300, before=before)
            pages = [*(item.cursor for item in page if isinstance(item, JournalEntry)), *pages]
    assert [item.cursor for item in whole] == truth
    assert pages[-len(truth) :] == truth


@fault("D14", how="a login without the group", result="told which group is missing")
async def test_a_user_without_rights_is_told_which_group_is_missing(fleet: TestFleet) -> None:
    async with way_to(fleet, HOST, "ops") as transport:
        with pytest.raises(SourceUnavailable, match="add ops to group systemd-journal"):
            await journal_access(transport)
        with pytest.raises(SourceUnavailable, match="sudo -n journalctl is refused too"):
            await journal_access(transport, become="sudo")
    async with way_to(fleet, HOST, "sud") as transport:
        assert (await journal_access(transport)).prefix == ()


async def test_a_user_manager_s_unit_is_read_by_its_user(fleet: TestFleet) -> None:
    unit = "user-counter.service"
    hub = JournalHub(HOST, manager="user")
    as_ops = ("runuser", "-u", "ops", "--", "env", "XDG_RUNTIME_DIR=/run/user/1000", "systemctl", "--user")
    hub.watch([unit])
    async with kept_running(hub, fleet, HOST, "ops"), hub.subscribe(unit) as items:
        reader = Reader(items)
        await reader.read()
        fleet.check(HOST, *as_ops, "restart", unit)
        await reader.until(lambda: len(reader.numbers) > 20)
        fleet.check(HOST, *as_ops, "stop", unit)
        await reader.until(lambda: reader.entries[-1].from_manager)
    assert {entry.unit for entry in reader.entries} == {unit}
    assert lost_or_repeated(reader.numbers[-20:]) == []


async def test_logs_merges_the_hosts_and_goes_on(fleet: TestFleet) -> None:
    hosts = ("gpu-a", "gpu-b", "gpu-c")
    for host in hosts:
        fleet.start(host, COUNTER)
    sources = [LogSource(host, lambda host=host: way_to(fleet, host)) for host in hosts]  # type: ignore[misc]
    lines: list[str] = []
    done = asyncio.Event()

    def write(text: str) -> None:
        lines.extend(text.splitlines())
        if len(lines) > 600:
            done.set()

    async with asyncio.timeout(SECONDS), asyncio.TaskGroup() as group:
        task = group.create_task(
            logs(sources, COUNTER, LogOptions(follow=True, lines=20, json=True), write, lambda _line: None)
        )
        await done.wait()
        task.cancel()
    documents = [json.loads(line) for line in lines]
    for host in hosts:
        run = fleet.show(host, COUNTER)["InvocationID"]
        own = [one for one in documents if one["host"] == host and one.get("invocation_id") == run]
        numbers = [int(one["message"].removeprefix("line ")) for one in own if one["message"].startswith("line ")]
        assert len(numbers) > 50
        assert lost_or_repeated(numbers) == []
    stamps = [one["at"] for one in documents]
    out_of_order = sum(before > after for before, after in itertools.pairwise(stamps))
    assert out_of_order < len(stamps) / 20


async def test_logs_of_a_host_that_refuses_is_3(fleet: TestFleet) -> None:
    warnings: list[str] = []
    source = LogSource(HOST, lambda: way_to(fleet, HOST, "ops"))
    code = await logs([source], COUNTER, LogOptions(), lambda _text: None, warnings.append)
    assert code is ExitCode.UNKNOWN
    assert "add ops to group systemd-journal" in warnings[0]


async def test_kernel_lines_go_to_the_owner(fleet: TestFleet) -> None:
    kernel: list[str] = []
    arrived = asyncio.Event()

    def note(entries: tuple[JournalEntry, ...]) -> None:
        kernel.extend(entry.message for entry in entries)
        arrived.set()

    hub = JournalHub(HOST, on_kernel=note)
    async with kept_running(hub, fleet, HOST), hub.subscribe(COUNTER, lines=1) as items:
        await Reader(items).read()
        fleet.log_kernel(HOST, "NVRM: Xid (PCI:0000:1b:00): 79, pid=1, GPU has fallen off the bus.")
        async with asyncio.timeout(SECONDS):
            await arrived.wait()
    assert kernel == ["NVRM: Xid (PCI:0000:1b:00): 79, pid=1, GPU has fallen off the bus."]


@fault("D7", how="a reboot between", result="a line between two boots")
async def test_a_reboot_stands_between_the_lines_of_two_boots(fleet: TestFleet) -> None:
    host, unit = "gpu-c", "oneshot.service"
    hub = JournalHub(host)
    async with kept_running(hub, fleet, host) as lost, hub.subscribe(unit, lines=0) as items:
        reader = Reader(items)
        await reader.read()
        fleet.stop(host, unit)
        fleet.start(host, unit)
        await reader.until(lambda: "done" in reader.messages)
        await asyncio.to_thread(fleet.hosts[host].reboot)
        async with asyncio.timeout(SECONDS):
            await lost.wait()
        fleet.start(host, unit)
        await reader.until(lambda: reader.messages.count("done") == 2)
    assert [gap for gap in reader.gaps if "restarted" in gap] == [REBOOTED]
    assert not [gap for gap in reader.gaps if "vacuumed" in gap or "another journal" in gap]


async def test_no_follower_stays_behind_on_the_host(fleet: TestFleet, hub: JournalHub) -> None:
    async with kept_running(hub, fleet, HOST), hub.subscribe(COUNTER, lines=1) as items:
        await Reader(items).read()
        await until(lambda: fleet.exec(HOST, "pgrep", "-f", "journalctl --follow").returncode == 0)
    await until(lambda: fleet.exec(HOST, "pgrep", "-f", "journalctl --follow").returncode == 1, seconds=10)
