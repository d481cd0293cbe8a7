import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager

import pytest

from dflashtui.errors import SourceUnavailable, TransportLost
from dflashtui.model.unit import ActiveState, LoadState, UnitStatus
from dflashtui.source.systemd import open_units
from dflashtui.source.systemd_bus import connected
from dflashtui.source.systemd_watch import Watch
from dflashtui.source.units import UnitSource
from tests.faults.marks import fault

from .systemd_fakes import SYSTEMD, FakeManager, FakeTransport, Refusal, until

Units = tuple[UnitStatus, ...]


class Following:
    """The newest units of a watch, and waiting for what they should become."""

    def __init__(self, feed: AsyncIterator[Units]) -> None:
        self._feed = feed
        self.seen: list[Units] = []

    async def until(self, is_so: Callable[[Units], bool]) -> Units:
        async with asyncio.timeout(5):
            while not (self.seen and is_so(self.seen[-1])):
                self.seen.append(await anext(self._feed))
        return self.seen[-1]

    async def first(self) -> Units:
        return await self.until(lambda _units: True)

    async def nothing_more(self, manager: FakeManager) -> None:
        """Nothing is read any more although some time passes: the watch has come to rest."""
        task = asyncio.ensure_future(anext(self._feed))
        await asyncio.sleep(0.2)
        before = manager.calls["GetAll"]
        await asyncio.sleep(0.3)
        assert manager.calls["GetAll"] == before
        assert not task.done()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


@pytest.fixture
def manager() -> FakeManager:
    return FakeManager()


@asynccontextmanager
async def following(manager: FakeManager, *patterns: str) -> AsyncIterator[tuple[Following, UnitSource, FakeTransport]]:
    async with manager.serving() as socket:
        transport = FakeTransport(socket)
        async with (
            open_units(transport, manager="system", become="none") as source,
            aclosing(source.watch(patterns)) as feed,
        ):
            yield Following(feed), source, transport


def states(units: Units) -> dict[str, str]:
    return {unit.name: unit.active_state.value for unit in units}


def state(name: str, active_state: ActiveState) -> Callable[[Units], bool]:
    return lambda units: any(unit.name == name and unit.active_state is active_state for unit in units)


async def test_plain_names_and_globs_in_the_order_of_the_patterns(manager: FakeManager) -> None:
    manager.add("b.service", ActiveState="active")
    manager.add("sglang-b.service")
    manager.add("sglang-a.service", ActiveState="failed")
    manager.add("other.service", ActiveState="active")
    async with following(manager, "nosuch", "sglang-*.service", "b.service") as (watched, source, transport):
        units = await watched.first()
        assert [unit.name for unit in units] == ["nosuch.service", "sglang-a.service", "sglang-b.service", "b.service"]
        assert units[0].load_state is LoadState.NOT_FOUND
        assert (source.via, source.systemd_version) == ("bus", 252)
        assert transport.ran == [], "no process on the host"


async def test_a_change_is_told(manager: FakeManager) -> None:
    manager.add("a.service", ActiveState="active")
    async with following(manager, "a.service") as (watched, _, _transport):
        await watched.first()
        manager.change("a.service", ActiveState="failed", Result="exit-code", ExecMainCode=1, ExecMainStatus=3)
        unit = (await watched.until(state("a.service", ActiveState.FAILED)))[0]
        assert (unit.result, unit.exec_main_status) == ("exit-code", 3)


async def test_reading_unloaded_units_comes_to_rest(manager: FakeManager) -> None:
    manager.add("a.service")
    manager.add("sglang-a.service")
    async with following(manager, "a.service", "sglang-*", "nosuch.service") as (watched, _, _transport):
        await watched.first()
        await watched.nothing_more(manager)


async def test_a_burst_is_read_a_few_times_and_ends_true(manager: FakeManager) -> None:
    manager.add("a.service", ActiveState="active")
    async with following(manager, "a.service") as (watched, _, _transport):
        await watched.first()
        before = manager.calls["GetAll"]
        for count in range(1000):
            manager.change("a.service", ActiveState=("active", "activating")[count % 2], NRestarts=count)
        manager.change("a.service", ActiveState="failed")
        unit = (await watched.until(state("a.service", ActiveState.FAILED)))[0]
        assert unit.n_restarts == 999
        assert manager.calls["GetAll"] - before < 20


async def test_a_signal_during_a_read_is_not_lost(manager: FakeManager) -> None:
    """The reply was made before the change; the signal says something else than the reply."""
    manager.add("a.service", ActiveState="active", NRestarts=0)
    async with following(manager, "a.service") as (watched, _, _transport):
        await watched.first()
        manager.held = []
        manager.change("a.service", NRestarts=1)
        waiting = asyncio.ensure_future(watched.until(lambda units: units[0].n_restarts == 2))
        await until(lambda: bool(manager.held))
        manager.change("a.service", NRestarts=2)
        manager.release()
        assert (await waiting)[0].n_restarts == 2


async def test_units_that_appear_later(manager: FakeManager) -> None:
    async with following(manager, "job-*") as (watched, _, _transport):
        assert await watched.first() == ()
        manager.add("job-1.service", ActiveState="active", FragmentPath="")
        manager.emit("UnitNew", "so", ["job-1.service", "/org/freedesktop/systemd1/unit/job_2d1_2eservice"])
        await watched.until(state("job-1.service", ActiveState.ACTIVE))
        manager.add("job-2.service")
        manager.emit("UnitFilesChanged", "", [])
        units = await watched.until(lambda units: len(units) == 2)
        assert states(units) == {"job-1.service": "active", "job-2.service": "inactive"}


async def test_a_transient_unit_goes_and_may_come_again(manager: FakeManager) -> None:
    path = "/org/freedesktop/systemd1/unit/job_2d1_2eservice"
    manager.add("job-1.service", ActiveState="active", FragmentPath="", Transient=True)
    async with following(manager, "job-*") as (watched, _, _transport):
        await watched.first()
        del manager.units["job-1.service"]
        manager.emit("UnitRemoved", "so", ["job-1.service", path])
        assert await watched.until(lambda units: units == ()) == ()
        await watched.nothing_more(manager)
    async with following(manager, "job-*") as (watched, _, _transport):
        assert await watched.first() == ()
        manager.add("job-1.service", ActiveState="active", FragmentPath="", Transient=True)
        manager.emit("JobRemoved", "uoss", [1, "/org/freedesktop/systemd1/job/1", "job-1.service", "done"])
        await watched.until(state("job-1.service", ActiveState.ACTIVE))


async def test_an_unloaded_unit_keeps_what_tells_of_its_last_run(manager: FakeManager) -> None:
    """The last signal says how it ended; by the time of the read systemd has unloaded it and knows nothing."""
    manager.add("a.service", ActiveState="active", StateChangeTimestamp=5, InvocationID=b"\1" * 16, NRestarts=2)
    async with following(manager, "a.service") as (watched, _, _transport):
        await watched.first()
        ended = {"ActiveState": "inactive", "StateChangeTimestamp": 9, "InvocationID": b"\1" * 16}
        manager.tell_changed("a.service", ended)
        blank = {"ActiveState": "inactive", "StateChangeTimestamp": 0, "InvocationID": b"", "NRestarts": 0}
        manager.change("a.service", signal=False, **blank)
        manager.emit("UnitRemoved", "so", ["a.service", "/org/freedesktop/systemd1/unit/a_2eservice"])
        unit = (await watched.until(state("a.service", ActiveState.INACTIVE)))[0]
        assert (unit.invocation_id, unit.n_restarts) == ("01" * 16, 2)
        assert unit.since is not None
        assert unit.since.microsecond == 9
        await watched.nothing_more(manager)


async def test_the_end_of_a_run_that_came_while_its_beginning_was_read_is_kept(manager: FakeManager) -> None:
    run = {"InvocationID": b"\1" * 16, "ExecMainCode": 0}
    manager.add("a.service", ActiveState="active", StateChangeTimestamp=5, **run)
    async with following(manager, "a.service") as (watched, _, _transport):
        await watched.first()
        manager.held = []
        manager.change("a.service", StateChangeTimestamp=6)
        waiting = asyncio.ensure_future(watched.until(state("a.service", ActiveState.INACTIVE)))
        await until(lambda: bool(manager.held))
        ended = {"ActiveState": "inactive", "StateChangeTimestamp": 9, **run, "ExecMainCode": 1, "ExecMainStatus": 0}
        manager.tell_changed("a.service", ended)
        blank = {"StateChangeTimestamp": 0, "InvocationID": b"", "ExecMainCode": 0}
        manager.change("a.service", signal=False, ActiveState="inactive", **blank)
        manager.release()
        unit = (await waiting)[0]
    assert (unit.invocation_id, unit.exec_main_code, unit.exec_main_status) == ("01" * 16, 1, 0)


async def test_an_answer_from_before_the_start_is_not_mixed_with_the_end_of_the_run(manager: FakeManager) -> None:
    """A start that fails within milliseconds: never was it inactive and at its end at once."""
    blank = {"StateChangeTimestamp": 0, "InvocationID": b"", "ExecMainCode": 0}
    manager.add("a.service", ActiveState="inactive", **blank)
    async with following(manager, "a.service") as (watched, _, _transport):
        await watched.first()
        manager.held = []
        manager.change("a.service", NRestarts=1)
        seen: list[tuple[ActiveState, int | None]] = []

        def note(units: Units) -> bool:
            seen.append((units[0].active_state, units[0].exec_main_code or None))
            return units[0].active_state is ActiveState.FAILED

        waiting = asyncio.ensure_future(watched.until(note))
        await until(lambda: bool(manager.held))
        run = {"InvocationID": b"\1" * 16, "StateChangeTimestamp": 9, "ExecMainStatus": 217}
        manager.change("a.service", signal=True, ActiveState="failed", ExecMainCode=1, **run)
        manager.release()
        await waiting
    assert (ActiveState.INACTIVE, 1) not in seen


async def test_aliases_are_one_unit(manager: FakeManager) -> None:
    manager.add("ssh.service", ActiveState="active", Names=["ssh.service", "sshd.service"])
    manager.aliases["sshd.service"] = "ssh.service"
    async with following(manager, "sshd.service", "ssh*") as (watched, _, _transport):
        units = await watched.first()
        assert [(unit.name, unit.aliases) for unit in units] == [("ssh.service", ("sshd.service",))]
        manager.change("ssh.service", ActiveState="failed")
        await watched.until(state("ssh.service", ActiveState.FAILED))


async def test_everything_is_read_again_after_a_reload(manager: FakeManager) -> None:
    manager.add("a.service", ActiveState="active", Description="old")
    async with following(manager, "a.service") as (watched, _, _transport):
        await watched.first()
        manager.emit("Reloading", "b", [True])
        manager.emit("UnitRemoved", "so", ["a.service", "/org/freedesktop/systemd1/unit/a_2eservice"])
        manager.change("a.service", signal=False, Description="new")
        manager.emit("Reloading", "b", [False])
        assert (await watched.until(lambda units: units[0].description == "new"))[0].name == "a.service"


async def test_a_new_manager_is_subscribed_to_and_read(manager: FakeManager) -> None:
    manager.add("a.service", ActiveState="active")
    async with following(manager, "a.service") as (watched, _, _transport):
        await watched.first()
        manager.change("a.service", signal=False, ActiveState="failed")
        manager.execute_anew()
        await watched.until(state("a.service", ActiveState.FAILED))
        assert manager.calls["Subscribe"] == 2
        manager.change("a.service", ActiveState="active")
        await watched.until(state("a.service", ActiveState.ACTIVE))


@fault("I4", how="another peer of the bus sends signals", result="only the manager is believed")
async def test_only_the_manager_is_believed(manager: FakeManager) -> None:
    manager.add("a.service", ActiveState="active")
    async with following(manager, "a.*") as (watched, _, _transport):
        await watched.first()
        manager.emit("UnitFilesChanged", "", [], sender=":1.66")
        manager.change("a.service", ActiveState="failed")
        await watched.until(state("a.service", ActiveState.FAILED))
        assert manager.calls["ListUnitFilesByPatterns"] == 1


async def test_what_sends_no_signal_is_looked_over(manager: FakeManager) -> None:
    manager.add("a.service", ActiveState="active")
    async with manager.serving() as socket, connected(FakeTransport(socket), socket) as bus:
        watch = Watch(bus, ["a.service"], look_over_seconds=0.05)
        with bus.listening(watch):
            async with aclosing(watch.follow()) as feed:
                watched = Following(feed)
                await watched.first()
                manager.change("a.service", signal=False, NeedDaemonReload=True)
                await watched.until(lambda units: units[0].needs_reload is True)


async def test_refresh_reads_everything(manager: FakeManager) -> None:
    manager.add("a.service", ActiveState="active")
    async with following(manager, "a.service") as (watched, source, _):
        await watched.first()
        manager.change("a.service", signal=False, MemoryCurrent=5)
        await source.refresh()
        await watched.until(lambda units: units[0].memory_current_bytes == 5)


async def test_a_unit_that_cannot_be_read_does_not_take_the_others_along(manager: FakeManager) -> None:
    manager.add("a.service", ActiveState="active")
    manager.refusals["GetAll"] = Refusal("org.freedesktop.DBus.Error.UnknownObject", "no such object")
    async with following(manager, "a.service") as (watched, _, _transport):
        unit = (await watched.first())[0]
        assert (unit.load_state, unit.load_error) == (LoadState.ERROR, "no such object")


async def test_a_frozen_bus_is_noticed(manager: FakeManager) -> None:
    manager.add("a.service", ActiveState="active")
    async with manager.serving() as socket, connected(FakeTransport(socket), socket, limit_seconds=0.1) as bus:
        watch = Watch(bus, ["a.service"], look_over_seconds=0.05)
        with bus.listening(watch):
            async with aclosing(watch.follow()) as feed:
                await Following(feed).first()
                manager.frozen = True
                with pytest.raises(SourceUnavailable, match=r"gave no answer to Get within 0\.1 s"):
                    await anext(feed)


@fault(
    "C11",
    how="a manager that says it reads its files anew",
    result="waited for beyond the limit",
)
async def test_a_reloading_manager_may_take_its_time(manager: FakeManager) -> None:
    async with manager.serving() as socket, connected(FakeTransport(socket), socket, limit_seconds=0.05) as bus:
        manager.emit("Reloading", "b", [True])
        await until(lambda: bus.is_reloading)
        manager.silent.add("ListUnits")
        asked = asyncio.ensure_future(bus.call("ListUnits"))
        await asyncio.sleep(0.2)
        assert not asked.done()
        manager.emit("Reloading", "b", [False])
        with pytest.raises(SourceUnavailable, match="no answer to ListUnits"):
            await asked


async def test_the_end_of_the_bus_alone(manager: FakeManager) -> None:
    async with following(manager, "a.service") as (watched, _, _transport):
        await watched.first()
        manager.hang_up()
        with pytest.raises(SourceUnavailable, match="bus"):
            await watched.until(lambda _units: False)


async def test_the_end_of_the_link(manager: FakeManager) -> None:
    async with following(manager, "a.service") as (watched, _, transport):
        await watched.first()
        transport.is_lost = True
        manager.hang_up()
        with pytest.raises(TransportLost, match="the link is down"):
            await watched.until(lambda _units: False)


async def test_no_manager_on_the_bus(manager: FakeManager) -> None:
    manager.refusals["GetNameOwner"] = Refusal("org.freedesktop.DBus.Error.NameHasNoOwner", f"no {SYSTEMD}")
    async with manager.serving() as socket:
        with pytest.raises(SourceUnavailable, match="no service manager"):
            async with connected(FakeTransport(socket), socket):
                pass


async def test_a_pattern_that_systemd_would_mangle(manager: FakeManager) -> None:
    async with following(manager, "ok.service;reboot") as (watched, _, _transport):
        with pytest.raises(SourceUnavailable, match="is no unit name"):
            await watched.first()
