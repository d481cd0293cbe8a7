"""The simulated fleet, on a clock that stands still unless it is advanced."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest

from dflashtui.config.model import Config, Group, Host, Unit
from dflashtui.config.read import load
from dflashtui.demo.clock import StandingClock
from dflashtui.demo.fleet import DemoFleet
from dflashtui.errors import DflashError
from dflashtui.model.action import UnitAction, Verb
from dflashtui.model.host import LinkState
from dflashtui.model.unit import ActiveState, Readiness
from dflashtui.paths import shared

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from dflashtui.fleet.base import Change, Fleet
    from dflashtui.model.action import ActionResult
    from dflashtui.model.event import Event
    from dflashtui.model.journal import JournalItem
    from dflashtui.model.unit import UnitStatus

LOOPING = "sglang-dflash-smoke.service"
READY = "sglang-dflash.service"


@asynccontextmanager
async def sample(*, is_hostile: bool = False) -> AsyncIterator[DemoFleet]:
    """The packaged inventory, connected."""
    async with DemoFleet(load(shared("hosts.toml")), clock=StandingClock(), is_hostile=is_hostile) as fleet:
        await fleet.advance(0)
        yield fleet


def large(count: int = 40) -> Config:
    return Config(
        hosts=tuple(Host(name=f"gpu{number:02}", group="farm", units=("sglang-*.service",)) for number in range(count)),
        groups=(Group(name="farm"),),
    )


def unit(fleet: DemoFleet, host: str, name: str) -> UnitStatus:
    found = fleet.snapshot(host).unit(name)
    assert found is not None
    return found


def texts(items: tuple[JournalItem, ...]) -> list[str]:
    return [item.message for item in items if item.kind == "entry"]


async def act(fleet: DemoFleet, verb: Verb, name: str = READY, host: str = "ct129", **more: str) -> ActionResult:
    return await fleet.perform(UnitAction(verb=verb, host=host, unit=name, **more))


async def collected(fleet: DemoFleet, seconds: float, step: float = 0.5) -> list[Event]:
    """Every event from the first contact on."""
    events: list[Event] = []
    async with fleet.subscribe() as changes:
        events += await _waiting(changes)
        for _ in range(int(seconds / step)):
            await fleet.advance(step)
            events += await _waiting(changes)
    return events


async def _waiting(changes: AsyncIterator[Change]) -> list[Event]:
    events: list[Event] = []
    while True:
        try:
            async with asyncio.timeout(0):
                change = await anext(changes)
        except TimeoutError:
            return events
        events += change.events


async def test_it_is_a_fleet() -> None:
    async with sample() as fleet:
        real: Fleet = fleet
        assert real.is_demo
        assert real.names == ("ct129", "ct200")


async def test_the_sample_has_every_state_of_the_story() -> None:
    async with sample() as fleet:
        units = [unit for host in fleet.names for unit in fleet.snapshot(host).units or ()]
        gpus = [gpu for host in fleet.names for gpu in fleet.snapshot(host).gpus or ()]
        assert len(units) >= 5
        assert len(gpus) == 16
        assert {unit.readiness for unit in units} >= {Readiness.READY, Readiness.LOADING, Readiness.FAILED}
        assert [unit.name for unit in units if unit.is_looping] == [LOOPING]
        assert [(gpu.index, gpu.last_xid and gpu.last_xid.xid) for gpu in gpus if gpu.lost] == [(1, 79)]
        orphans = [process for gpu in gpus for process in gpu.processes or () if process.unit is None]
        assert len(orphans) == 1
        assert all(gpu.lost or (gpu.memory_used_bytes or 0) < (gpu.memory_total_bytes or 0) for gpu in gpus)


async def test_the_same_seed_and_clock_give_the_same_values() -> None:
    pictures = []
    for _ in range(2):
        async with sample() as fleet:
            await act(fleet, Verb.RESTART)
            await fleet.advance(30)
            journal = await fleet.history("ct200", LOOPING, lines=50)
            pictures.append(([fleet.snapshot(host) for host in fleet.names], journal))
    assert pictures[0] == pictures[1]


async def test_a_crash_loop_goes_on_says_why_gives_up_and_begins_again() -> None:
    async with sample() as fleet:
        before = unit(fleet, "ct200", LOOPING)
        await fleet.advance(30)
        after = unit(fleet, "ct200", LOOPING)
        assert (after.n_restarts or 0) > (before.n_restarts or 0)
        assert after.invocation_id != before.invocation_id
        journal = texts(await fleet.history("ct200", LOOPING, lines=40))
        assert "ModuleNotFoundError: No module named 'soundfile'" in journal
        states = set()
        for _ in range(240):
            await fleet.advance(0.5)
            now = unit(fleet, "ct200", LOOPING)
            states.add((now.active_state, now.next_restart_at is not None))
        assert states == {
            (ActiveState.ACTIVE, False),
            (ActiveState.ACTIVATING, True),
            (ActiveState.FAILED, False),
        }


async def test_what_happens_is_told_as_events() -> None:
    async with DemoFleet(load(shared("hosts.toml")), clock=StandingClock()) as fleet:
        told = [event.message for event in await collected(fleet, 30)]
    assert sum(message.startswith("connected") for message in told) == 2
    assert any("Xid 79" in message for message in told)
    assert any(message.startswith("restarted by systemd") for message in told)


async def test_loading_ends_in_ready_with_rising_memory() -> None:
    async with sample() as fleet:
        (loading,) = [one for one in fleet.snapshot("ct129").units or () if one.readiness is Readiness.LOADING]
        held, phases = [], []
        for _ in range(30):
            gpu = (fleet.snapshot("ct129").gpus or ())[2]
            held.append(gpu.memory_used_bytes or 0)
            phases.append(unit(fleet, "ct129", loading.name).readiness_detail)
            await fleet.advance(5)
        assert held == sorted(held)
        assert held[-1] > 2 * held[0]
        assert unit(fleet, "ct129", loading.name).readiness is Readiness.READY
        assert len(set(phases)) > 5


async def test_restart_makes_a_new_run_that_loads_and_serves() -> None:
    async with sample() as fleet:
        before = unit(fleet, "ct129", READY)
        result = await act(fleet, Verb.RESTART)
        after = unit(fleet, "ct129", READY)
        assert (result.ok, result.result, result.via) == (True, "done", "bus")
        assert result.duration_seconds > 1
        assert after.invocation_id != before.invocation_id
        assert after.readiness is Readiness.LOADING
        said = [
            item.message
            for item in await fleet.history("ct129", READY, lines=20)
            if item.kind == "entry" and item.from_manager
        ]
        assert [message.split()[0] for message in said[-4:]] == ["Stopping", f"{READY}:", "Stopped", "Started"]
        await fleet.advance(180)
        assert unit(fleet, "ct129", READY).readiness is Readiness.READY


async def test_stop_start_and_states_between() -> None:
    async with sample() as fleet:
        async with fleet.subscribe() as changes:
            result = await act(fleet, Verb.STOP)
            told = [event.message for event in await _waiting(changes) if event.unit == READY]
        assert told == ["stopping", "stopped"]
        stopped = unit(fleet, "ct129", READY)
        assert (result.ok, stopped.active_state, stopped.main_pid) == (True, ActiveState.INACTIVE, None)
        assert not [p for gpu in fleet.snapshot("ct129").gpus or () for p in gpu.processes or () if p.unit == READY]
        await act(fleet, Verb.START)
        assert unit(fleet, "ct129", READY).active_state is ActiveState.ACTIVE


async def test_files_failures_and_signals() -> None:
    async with sample() as fleet:
        await act(fleet, Verb.DISABLE)
        assert unit(fleet, "ct129", READY).unit_file_state == "disabled"
        await act(fleet, Verb.MASK)
        assert unit(fleet, "ct129", READY).unit_file_state == "masked"
        refused = await act(fleet, Verb.RESTART)
        assert (refused.ok, refused.result) == (False, "refused")
        assert "masked" in refused.message
        await act(fleet, Verb.UNMASK)
        await act(fleet, Verb.ENABLE)
        assert unit(fleet, "ct129", READY).unit_file_state == "enabled"
        await act(fleet, Verb.KILL, signal="SIGKILL")
        killed = unit(fleet, "ct129", READY)
        assert (killed.exec_main_code, killed.exec_main_status, killed.sub_state) == (2, 9, "auto-restart")
        await fleet.advance(12)
        assert unit(fleet, "ct129", READY).n_restarts == 1
        await act(fleet, Verb.RESET_FAILED, "sglang-ddtree.service")
        assert unit(fleet, "ct129", "sglang-ddtree.service").active_state is ActiveState.INACTIVE


async def test_only_what_can_reload_reloads() -> None:
    async with sample() as fleet:
        refused = await act(fleet, Verb.RELOAD)
        assert (refused.ok, refused.result) == (False, "refused")
        done = await act(fleet, Verb.RELOAD, "ddtree-wrapper.service", "ct200")
        assert done.ok
        assert unit(fleet, "ct200", "ddtree-wrapper.service").readiness is Readiness.READY


async def test_an_unknown_unit_is_refused_in_systemds_words() -> None:
    async with sample() as fleet:
        refused = await act(fleet, Verb.START, "nothing.service")
        assert "Unit nothing.service not found" in refused.message
        with pytest.raises(DflashError, match="No files found"):
            await fleet.unit_file("ct129", "nothing.service")


async def test_a_followed_journal_has_no_hole_and_nothing_twice() -> None:
    async with sample() as fleet, fleet.follow("ct129", READY, lines=20) as batches:
        seen = list(await anext(batches))
        assert len(seen) == 20
        for _ in range(20):
            batch = asyncio.ensure_future(anext(batches))
            await asyncio.sleep(0)
            await fleet.advance(7)
            seen += await batch
        whole = await fleet.history("ct129", READY, lines=len(seen))
        assert tuple(seen) == whole
        assert len({item.cursor for item in whole if item.kind == "entry"}) == len(whole)


async def test_history_goes_back_page_by_page() -> None:
    async with sample() as fleet:
        whole = await fleet.history("ct129", READY, lines=300)
        paged: tuple[JournalItem, ...] = ()
        for _ in range(3):
            before = paged[0].cursor if paged and paged[0].kind == "entry" else None
            paged = (*await fleet.history("ct129", READY, lines=100, before=before), *paged)
        assert paged == whole


async def test_history_of_one_run_is_that_run_alone() -> None:
    async with sample() as fleet:
        last = unit(fleet, "ct200", LOOPING).invocation_id
        run = await fleet.history("ct200", LOOPING, lines=500, invocation_id=last)
        assert {item.invocation_id for item in run if item.kind == "entry"} == {last}
        assert texts(run)[0].startswith("Started")
        assert any("soundfile" in text for text in texts(run))


async def test_properties_and_unit_file_speak_of_the_same_unit() -> None:
    async with sample() as fleet:
        properties = await fleet.properties("ct129", READY)
        assert properties["Id"] == READY
        assert properties["ActiveState"] == "active"
        assert f"Description={properties['Description']}" in await fleet.unit_file("ct129", READY)


async def test_acknowledged_faults_are_no_alarm_any_more() -> None:
    async with sample() as fleet:
        assert fleet.snapshot("ct129").xids
        fleet.acknowledge("ct129")
        assert not fleet.snapshot("ct129").xids


async def test_a_large_inventory_has_hosts_in_every_state_of_their_link() -> None:
    async with DemoFleet(large(), clock=StandingClock()) as fleet:
        await fleet.advance(0)
        assert {fleet.snapshot(name).link.state for name in fleet.names} >= {
            LinkState.UP,
            LinkState.UNREACHABLE,
            LinkState.AUTH_FAILED,
            LinkState.HOSTKEY_CHANGED,
            LinkState.HOSTKEY_UNKNOWN,
            LinkState.CONNECTING,
        }
        lost = [name for name in fleet.names if fleet.snapshot(name).link.error and fleet.snapshot(name).units]
        assert lost, "a lost host keeps its last values"
        host = lost[0]
        name = (fleet.snapshot(host).units or ())[0].name
        refused = await fleet.perform(UnitAction(verb=Verb.STOP, host=host, unit=name))
        assert (refused.ok, refused.result) == (False, "not sent")


async def test_a_read_only_group_refuses() -> None:
    config = Config(hosts=(Host(name="h", group="g", units=("a.service",)),), groups=(Group(name="g", read_only=True),))
    async with DemoFleet(config, clock=StandingClock()) as fleet:
        await fleet.advance(0)
        refused = await fleet.perform(UnitAction(verb=Verb.STOP, host="h", unit="a.service"))
        assert (refused.ok, refused.result) == (False, "denied")


@pytest.mark.parametrize(
    "config",
    [
        Config(hosts=(Host(name="localhost", transport="local"),)),
        Config(hosts=(Host(name="a", units=("*", "?[a-z]*.service", "one.service")), Host(name="b"))),
        Config(hosts=(Host(name="a"),), units=(Unit(name="x.service", hosts=("a",), gpus=("GPU-1", 0, 1)),)),
    ],
)
async def test_any_inventory_comes_to_life(config: Config) -> None:
    async with DemoFleet(config, clock=StandingClock()) as fleet:
        await fleet.advance(0)
        units = [unit for host in fleet.names for unit in fleet.snapshot(host).units or ()]
        assert len(units) >= 5
        assert len({(unit.name) for unit in units if unit.is_looping}) == 1


async def test_an_empty_inventory_is_an_empty_fleet() -> None:
    async with DemoFleet(Config(), clock=StandingClock()) as fleet:
        await fleet.advance(1)
        assert fleet.names == ()


async def test_hostile_text_appears_only_when_asked_for() -> None:
    for is_hostile in (False, True):
        async with sample(is_hostile=is_hostile) as fleet:
            lines = texts(await fleet.history("ct129", READY, lines=100))
            assert any("\x1b" in text for text in lines) is is_hostile
            assert ("\x1b" in unit(fleet, "ct129", READY).description) is is_hostile


async def test_leaving_ends_a_running_clock_at_once() -> None:
    async with DemoFleet(large(3)) as fleet, fleet.subscribe() as changes:
        seen = [await anext(changes) for _ in range(6)]
        assert {change.snapshot.link.state for change in seen} == {LinkState.CONNECTING, LinkState.UP}
        async with fleet.follow("gpu00", (fleet.snapshot("gpu00").units or ())[0].name) as batches:
            assert await anext(batches)
    assert len(asyncio.all_tasks()) == 1
