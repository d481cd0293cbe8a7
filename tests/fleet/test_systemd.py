"""Units of real hosts, by all three ways."""

from __future__ import annotations

import asyncio
from contextlib import aclosing, asynccontextmanager
from typing import TYPE_CHECKING

import pytest

from dflashtui.errors import ActionDenied, CommandFailed, NoSystemd, SourceUnavailable, TransportLost
from dflashtui.model.action import UnitAction, Verb
from dflashtui.model.unit import ActiveState, LoadState
from dflashtui.source.systemd import open_units
from tests.faults.marks import fault

from .journal_reader import until, way_to

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator, Sequence
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path, PurePosixPath
    from typing import Never

    from dflashtui.model.unit import UnitStatus
    from dflashtui.source.units import UnitSource
    from dflashtui.transport.base import Completed, Stream, Transport
    from tests.fleet.harness.fleet import TestFleet

    Units = tuple[UnitStatus, ...]

WAYS = ("bus", "stdio-bridge", "systemctl")
HOST = "gpu-b"
SECONDS = 20


class Fewer:
    """A transport with some of its abilities taken away."""

    def __init__(self, whole: Transport, way: str) -> None:
        self._whole = whole
        self._way = way

    @property
    def host(self) -> str:
        return self._whole.host

    @property
    def channels(self) -> int:
        return self._whole.channels

    async def run(self, argv: Sequence[str], *, stdin: bytes = b"", output_limit_bytes: int = 64 * 2**20) -> Completed:
        if argv[0] == "test" and self._way == "no-systemd":
            argv = ("test", "-d", "/nonexistent")
        return await self._whole.run(argv, stdin=stdin, output_limit_bytes=output_limit_bytes)

    def stream(self, argv: Sequence[str]) -> AbstractAsyncContextManager[Stream]:
        if self._way == "stdio-bridge":
            return self._whole.stream(argv)
        raise SourceUnavailable(self.host, "stream", "refused by the test")

    def local_socket(self, path: str) -> AbstractAsyncContextManager[Path]:
        if self._way == "bus":
            return self._whole.local_socket(path)
        raise SourceUnavailable(self.host, "socket", "refused by the test")

    async def put(self, data: bytes, path: PurePosixPath, *, mode: int) -> None:
        await self._whole.put(data, path, mode=mode)

    async def open_tcp(self, address: str, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await self._whole.open_tcp(address, port)

    async def lost(self) -> Never:
        await self._whole.lost()


@asynccontextmanager
async def source(
    fleet: TestFleet, way: str = "bus", *, user: str = "root", manager: str = "system", become: str = "none"
) -> AsyncIterator[UnitSource]:
    async with (
        way_to(fleet, HOST, user) as transport,
        open_units(Fewer(transport, way), manager=manager, become=become) as units,
    ):
        assert units.via == way
        yield units


class Watched:
    """The newest units of a watch, taken by a task of its own."""

    def __init__(self) -> None:
        self.units: Units = ()
        self.seen: list[Units] = []
        self._news = asyncio.Event()

    async def follow(self, feed: AsyncIterator[Units]) -> None:
        async for units in feed:
            self.units = units
            self.seen.append(units)
            self._news.set()

    async def until(self, holds: Callable[[Units], bool]) -> Units:
        async with asyncio.timeout(SECONDS):
            while not (self.seen and holds(self.units)):
                self._news.clear()
                await self._news.wait()
        return self.units

    async def unit(self, name: str, holds: Callable[[UnitStatus], bool]) -> UnitStatus:
        units = await self.until(lambda units: any(unit.name == name and holds(unit) for unit in units))
        return next(unit for unit in units if unit.name == name)


@asynccontextmanager
async def watching(units: UnitSource, *patterns: str) -> AsyncIterator[Watched]:
    watched = Watched()
    async with aclosing(units.watch(patterns)) as feed:
        task = asyncio.ensure_future(watched.follow(feed))
        try:
            await watched.until(lambda _units: True)
            yield watched
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


def action(verb: Verb, unit: str, manager: str = "system") -> UnitAction:
    return UnitAction(verb=verb, host=HOST, unit=unit, manager=manager)


def is_(state: ActiveState) -> Callable[[UnitStatus], bool]:
    return lambda unit: unit.active_state is state


@pytest.fixture
def own_units(fleet: TestFleet) -> Iterator[Callable[[str, str], None]]:
    """Writes unit files that are gone after the test."""
    written: list[str] = []

    def write(name: str, text: str) -> None:
        written.append(name)
        fleet.write_file(HOST, f"/etc/systemd/system/{name}", text)
        fleet.check(HOST, "systemctl", "daemon-reload")

    yield write
    for name in written:
        fleet.exec(HOST, "systemctl", "disable", "--", name)
        fleet.exec(HOST, "systemctl", "stop", "--", name)
        fleet.exec(HOST, "systemctl", "reset-failed", "--", name)
        fleet.exec(HOST, "rm", "-rf", f"/etc/systemd/system/{name}", f"/etc/systemd/system/{name}.d")
    fleet.check(HOST, "systemctl", "daemon-reload")


@pytest.mark.parametrize("way", WAYS)
async def test_a_failure_behind_the_consoles_back(fleet: TestFleet, way: str) -> None:
    async with source(fleet, way) as units, watching(units, "nosuch.service", "sglang-[io]*.service") as watched:
        assert [unit.name for unit in watched.units] == [
            "nosuch.service",
            "sglang-import-error.service",
            "sglang-ok.service",
        ]
        assert watched.units[0].load_state is LoadState.NOT_FOUND
        await asyncio.to_thread(fleet.start, HOST, "sglang-import-error.service")
        unit = await watched.unit("sglang-import-error.service", is_(ActiveState.FAILED))
        shown = await asyncio.to_thread(fleet.show, HOST, unit.name)
        assert (unit.result, unit.exec_main_code, unit.exec_main_status) == ("exit-code", 1, 1)
        assert unit.invocation_id == shown["InvocationID"]
        assert unit.main_pid is None
        assert units.systemd_version == 252


async def test_three_ways_one_reading(fleet: TestFleet) -> None:
    """The values that stand still are the same whichever way they came."""
    await asyncio.to_thread(fleet.start, HOST, "oneshot.service")
    await asyncio.to_thread(fleet.start, HOST, "sglang-import-error.service")
    readings = []
    for way in WAYS:
        async with source(fleet, way) as units:
            names = ("oneshot.service", "sshd.service", "sglang-import-error.service", "hostile*.service", "nosuch")
            async with watching(units, *names) as watched:
                await watched.unit("sglang-import-error.service", is_(ActiveState.FAILED))
                unsteady = {"cpu_usage_nsec", "memory_current_bytes", "tasks_current"}
                readings.append([unit.model_dump(exclude=unsteady) for unit in watched.units])
    for reading in readings[1:]:
        for ours, theirs in zip(readings[0], reading, strict=True):
            assert ours == theirs
    assert [reading["name"] for reading in readings[0]][:2] == ["oneshot.service", "ssh.service"]


@pytest.mark.parametrize("way", WAYS)
async def test_start_restart_stop(fleet: TestFleet, way: str) -> None:
    async with source(fleet, way) as units, watching(units, "counter.service") as watched:
        via = "systemctl" if way == "systemctl" else "bus"
        assert await units.perform(action(Verb.START, "counter.service")) == ("done", via)
        first = await watched.unit("counter.service", is_(ActiveState.ACTIVE))
        assert await units.perform(action(Verb.RESTART, "counter.service")) == ("done", via)
        second = await watched.unit(
            "counter.service",
            lambda unit: unit.active_state is ActiveState.ACTIVE and unit.invocation_id != first.invocation_id,
        )
        assert second.main_pid != first.main_pid
        assert await units.perform(action(Verb.STOP, "counter.service")) == ("done", via)
        await watched.unit("counter.service", is_(ActiveState.INACTIVE))
        with pytest.raises(CommandFailed, match=r"systemctl start nosuch\.service: exit 5: .*not found"):
            await units.perform(action(Verb.START, "nosuch.service"))


@fault("C5", how="SIGTERM is ignored", result="the job is done, the unit failed (timeout)")
async def test_done_is_the_jobs_word_only(fleet: TestFleet) -> None:
    """SIGTERM is ignored: systemd kills, the stop job is done, the unit has failed."""
    async with source(fleet) as units, watching(units, "stubborn.service") as watched:
        await units.perform(action(Verb.START, "stubborn.service"))
        await until(
            lambda: any("ignoring" in str(entry["MESSAGE"]) for entry in fleet.journal(HOST, "stubborn.service", "-b"))
        )
        assert await units.perform(action(Verb.STOP, "stubborn.service")) == ("done", "bus")
        unit = await watched.unit("stubborn.service", is_(ActiveState.FAILED))
        assert unit.result == "timeout"


@pytest.mark.parametrize("way", WAYS)
async def test_a_job_that_somebody_else_cancels(
    fleet: TestFleet, way: str, own_units: Callable[[str, str], None]
) -> None:
    own_units("sd-slow.service", "[Service]\nType=oneshot\nExecStart=/bin/sleep 60\n")
    async with source(fleet, way) as units, watching(units, "sd-slow.service") as watched:
        starting = asyncio.ensure_future(units.perform(action(Verb.START, "sd-slow.service")))
        await watched.unit("sd-slow.service", is_(ActiveState.ACTIVATING))
        await asyncio.to_thread(fleet.check, HOST, "systemctl", "stop", "sd-slow.service")
        result, _ = await starting
        assert result == "canceled"


@pytest.mark.parametrize("way", WAYS)
async def test_files_enable_disable_mask_unmask(
    fleet: TestFleet, way: str, own_units: Callable[[str, str], None]
) -> None:
    text = "[Service]\nExecStart=/bin/sleep 60\n[Install]\nWantedBy=multi-user.target\nAlias=sd-other.service\n"
    own_units("sd-files.service", text)
    own_units("sd-bare.service", "[Service]\nExecStart=/bin/sleep 60\n")
    async with source(fleet, way) as units, watching(units, "sd-files.service") as watched:
        await units.perform(action(Verb.ENABLE, "sd-files.service"))
        unit = await watched.unit("sd-files.service", lambda unit: unit.unit_file_state == "enabled")
        assert unit.aliases == ("sd-other.service",)
        await units.perform(action(Verb.DISABLE, "sd-files.service"))
        await watched.unit("sd-files.service", lambda unit: unit.unit_file_state == "disabled")
        with pytest.raises(CommandFailed, match=r"no \[Install\] section"):
            await units.perform(action(Verb.ENABLE, "sd-bare.service"))
        await units.perform(action(Verb.MASK, "sd-gone.service"))
        shown = await asyncio.to_thread(fleet.show, HOST, "sd-gone.service")
        assert shown["LoadState"] == "masked"
        await units.perform(action(Verb.UNMASK, "sd-gone.service"))
        shown = await asyncio.to_thread(fleet.show, HOST, "sd-gone.service")
        assert shown["LoadState"] == "not-found"


@fault("C13", how="units that come and go", result="rows by name")
async def test_units_that_come_and_go(fleet: TestFleet, own_units: Callable[[str, str], None]) -> None:
    async with source(fleet) as units, watching(units, "sd-*.service") as watched:
        assert watched.units == ()
        await asyncio.to_thread(own_units, "sd-new.service", "[Service]\nExecStart=/bin/sleep 60\n")
        await watched.unit("sd-new.service", is_(ActiveState.INACTIVE))
        await asyncio.to_thread(fleet.check, HOST, "systemd-run", "--unit=sd-run", "sleep", "60")
        unit = await watched.unit("sd-run.service", is_(ActiveState.ACTIVE))
        assert unit.transient is True
        await asyncio.to_thread(fleet.check, HOST, "systemctl", "stop", "sd-run.service")
        await watched.until(lambda units: [unit.name for unit in units] == ["sd-new.service"])


@fault("C12", how="daemon-reload and daemon-reexec", result="states are read anew")
async def test_reload_and_reexec(fleet: TestFleet, own_units: Callable[[str, str], None]) -> None:
    own_units("sd-live.service", "[Unit]\nDescription=old\n[Service]\nExecStart=/bin/sleep 60\n")
    async with source(fleet) as units, watching(units, "sd-live.service") as watched:
        await units.perform(action(Verb.START, "sd-live.service"))
        await watched.unit("sd-live.service", is_(ActiveState.ACTIVE))
        text = "[Unit]\nDescription=new\n[Service]\nExecStart=/bin/sleep 60\n"
        fleet.write_file(HOST, "/etc/systemd/system/sd-live.service", text)
        await units.refresh()
        await watched.unit("sd-live.service", lambda unit: unit.needs_reload is True and unit.description == "old")
        await asyncio.to_thread(fleet.check, HOST, "systemctl", "daemon-reload")
        await watched.unit("sd-live.service", lambda unit: unit.needs_reload is False and unit.description == "new")
        await asyncio.to_thread(fleet.check, HOST, "systemctl", "daemon-reexec")
        await asyncio.to_thread(fleet.check, HOST, "systemctl", "kill", "--signal=KILL", "sd-live.service")
        unit = await watched.unit("sd-live.service", is_(ActiveState.FAILED))
        assert (unit.exec_main_code, unit.exec_main_status, unit.result) == (2, 9, "signal")
        assert await units.perform(action(Verb.RESET_FAILED, "sd-live.service")) == ("done", "bus")


@fault("C14", how="a burst of starts and stops", result="the last state is right")
async def test_the_state_after_a_burst(fleet: TestFleet) -> None:
    async with source(fleet) as units, watching(units, "worker@*.service") as watched:
        burst = (
            "for i in $(seq 1 60); do systemctl start worker@1; systemctl stop worker@1; done; systemctl start worker@2"
        )
        await asyncio.to_thread(fleet.check, HOST, "sh", "-c", burst)
        await watched.unit("worker@2.service", is_(ActiveState.ACTIVE))
        await watched.unit("worker@1.service", is_(ActiveState.INACTIVE))
        assert len(watched.seen) > 1


async def test_a_loop_says_when_it_starts_again(fleet: TestFleet) -> None:
    async with source(fleet) as units, watching(units, "sglang-loop.service") as watched:
        await asyncio.to_thread(fleet.start, HOST, "sglang-loop.service")
        unit = await watched.unit("sglang-loop.service", lambda unit: unit.sub_state == "auto-restart")
        assert unit.next_restart_at is not None
        assert unit.since is not None
        assert (unit.next_restart_at - unit.since).total_seconds() == 1
        await watched.unit("sglang-loop.service", lambda unit: (unit.n_restarts or 0) >= 2 and unit.is_looping)
        await asyncio.to_thread(fleet.stop, HOST, "sglang-loop.service")
        stopped = await watched.unit("sglang-loop.service", is_(ActiveState.INACTIVE))
        assert stopped.invocation_id is not None, "the last run can still be asked for"


@pytest.mark.parametrize("way", WAYS)
@fault("B17", how="a user without rights, by all three ways", result="the missing right is named at once")
async def test_who_may_and_who_may_not(fleet: TestFleet, way: str) -> None:
    async with source(fleet, way, user="ops") as units:
        with pytest.raises(ActionDenied, match="manage-units with unit"):
            await units.perform(action(Verb.START, "counter.service"))
    async with source(fleet, way, user="ops", become="sudo") as units:
        with pytest.raises(ActionDenied, match=r"NOPASSWD: /usr/bin/systemctl start counter\.service"):
            await units.perform(action(Verb.START, "counter.service"))
    async with source(fleet, way, user="sud", become="sudo") as units, watching(units, "counter.service") as watched:
        assert await units.perform(action(Verb.START, "counter.service")) == ("done", "sudo")
        await watched.unit("counter.service", is_(ActiveState.ACTIVE))
        assert await units.perform(action(Verb.STOP, "counter.service")) == ("done", "sudo")


@pytest.mark.parametrize("way", WAYS)
async def test_a_users_manager(fleet: TestFleet, way: str) -> None:
    async with (
        source(fleet, way, user="ops", manager="user") as units,
        watching(units, "user-counter.service", "counter.service") as watched,
    ):
        assert [unit.load_state.value for unit in watched.units] == ["loaded", "not-found"]
        await units.perform(action(Verb.RESTART, "user-counter.service", "user"))
        unit = await watched.unit("user-counter.service", is_(ActiveState.ACTIVE))
        assert "/user@1000.service/" in (unit.control_group or "")
        assert "user-counter" in await units.unit_file("user-counter.service")
        await units.perform(action(Verb.STOP, "user-counter.service", "user"))


async def test_files_and_properties_for_the_details(fleet: TestFleet) -> None:
    async with source(fleet) as units:
        assert "ExecStart=/usr/bin/python3 /opt/fleet/lines.py 0 50" in await units.unit_file("counter.service")
        properties = await units.properties("counter.service")
        assert properties["TimeoutStopUSec"] == "1min 30s"
        with pytest.raises(CommandFailed, match=r"systemctl cat -- nosuch\.service: exit 1"):
            await units.unit_file("nosuch.service")


@fault("B15", how="process 1 is not systemd", result="told apart", stand_in="a container without systemd")
@fault("B15", how="a host without systemd", result="told apart")
async def test_no_systemd_is_told_apart(fleet: TestFleet) -> None:
    async with way_to(fleet, HOST) as transport:
        with pytest.raises(NoSystemd, match="process 1 is systemd"):
            async with open_units(Fewer(transport, "no-systemd"), manager="system", become="none"):
                pass


async def test_the_end_of_the_link_is_the_links(fleet: TestFleet) -> None:
    async with way_to(fleet, HOST) as transport, open_units(transport, manager="system", become="none") as units:
        feed = units.watch(["counter.service"])
        await anext(feed)
        fleet.check(HOST, "pkill", "-KILL", "-f", "^sshd: root")
        with pytest.raises(TransportLost):
            async with asyncio.timeout(SECONDS):
                await anext(feed)
