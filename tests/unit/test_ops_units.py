import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import aclosing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from dflashtui.model.action import ActionResult, UnitAction, Verb
from dflashtui.model.host import HostSnapshot
from dflashtui.ops.audit import Audit
from dflashtui.ops.units import act
from dflashtui.ops.waves import HOSTS_AT_ONCE
from tests.faults.marks import fault

from .systemd_fakes import until


class FakeFleet:
    """Every action takes until `let` is set; the verdict is by host."""

    def __init__(self, *hosts: str, failing: tuple[str, ...] = (), read_only: tuple[str, ...] = ()) -> None:
        self.snapshots = {name: HostSnapshot(name=name, group="g", read_only=name in read_only) for name in hosts}
        self.verdicts: dict[str, bool | None] = dict.fromkeys(failing, False)
        self.let = asyncio.Event()
        self.let.set()
        self.started: list[str] = []
        self.most_at_once = 0
        self._running = 0

    def snapshot(self, host: str) -> HostSnapshot:
        return self.snapshots[host]

    async def perform(self, action: UnitAction) -> ActionResult:
        self.started.append(action.host)
        self._running += 1
        self.most_at_once = max(self.most_at_once, self._running)
        try:
            await self.let.wait()
            await asyncio.sleep(0)
        finally:
            self._running -= 1
        ok = self.verdicts.get(action.host, True)
        return ActionResult(
            action=action,
            ok=ok,
            result="done" if ok else "failed",
            message="m",
            via="bus",
            started_at=datetime.now(UTC),
            duration_seconds=0.1,
        )


def actions(*hosts: str, verb: Verb = Verb.RESTART, unit: str = "a.service") -> list[UnitAction]:
    return [UnitAction(verb=verb, host=host, unit=unit) for host in hosts]


async def collected(feed: AsyncIterator[ActionResult]) -> dict[str, str]:
    return {result.action.host: result.result async for result in feed}


def audited(audit: Audit) -> list[tuple[str, str]]:
    if not audit.path.exists():
        return []
    return [(line["host"], line["result"]) for line in map(json.loads, audit.path.read_text().splitlines())]


@pytest.fixture
def audit(tmp_path: Path) -> Audit:
    return Audit(tmp_path)


async def started(fleet: FakeFleet, count: int) -> None:
    await until(lambda: len(fleet.started) >= count)


async def test_every_action_has_its_line(audit: Audit) -> None:
    fleet = FakeFleet("h1", "h2", "h3")
    results = await collected(act(actions("h1", "h2", "h3"), fleet, audit, read_only=False))
    assert results == {"h1": "done", "h2": "done", "h3": "done"}
    assert sorted(audited(audit)) == [("h1", "done"), ("h2", "done"), ("h3", "done")]


async def test_nothing_asked_nothing_done(audit: Audit) -> None:
    assert await collected(act([], FakeFleet(), audit, read_only=False)) == {}


async def test_the_first_host_goes_alone(audit: Audit) -> None:
    fleet = FakeFleet("h1", "h2", "h3", failing=("h1",))
    results = await collected(act(actions("h1", "h2", "h3"), fleet, audit, read_only=False))
    assert results == {"h1": "failed", "h2": "skipped", "h3": "skipped"}
    assert fleet.started == ["h1"]
    assert audited(audit) == [("h1", "failed")]


async def test_an_unknown_outcome_stops_the_rest(audit: Audit) -> None:
    fleet = FakeFleet("h1", "h2")
    fleet.verdicts["h1"] = None
    results = await collected(act(actions("h1", "h2"), fleet, audit, read_only=False))
    assert results["h2"] == "skipped"
    assert fleet.started == ["h1"]


async def test_the_others_go_together_but_not_all_at_once(audit: Audit) -> None:
    hosts = [f"h{number}" for number in range(20)]
    fleet = FakeFleet(*hosts)
    results = await collected(act(actions(*hosts), fleet, audit, read_only=False))
    assert set(results.values()) == {"done"}
    assert 1 < fleet.most_at_once <= HOSTS_AT_ONCE


async def test_units_of_one_host_go_in_order(audit: Audit) -> None:
    fleet = FakeFleet("h1")
    both = [*actions("h1"), *actions("h1", unit="b.service")]
    units = [result.action.unit async for result in act(both, fleet, audit, read_only=False)]
    assert units == ["a.service", "b.service"]
    assert fleet.most_at_once == 1


async def test_stop_leaves_what_runs(audit: Audit) -> None:
    fleet, stop = FakeFleet("h1", "h2"), asyncio.Event()
    fleet.let.clear()
    running = asyncio.ensure_future(collected(act(actions("h1", "h2"), fleet, audit, read_only=False, stop=stop)))
    await started(fleet, 1)
    stop.set()
    fleet.let.set()
    assert await running == {"h1": "done", "h2": "skipped"}


async def test_cancelling_is_recorded(audit: Audit) -> None:
    fleet = FakeFleet("h1", "h2")
    fleet.let.clear()
    running = asyncio.ensure_future(collected(act(actions("h1", "h2"), fleet, audit, read_only=False)))
    await started(fleet, 1)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    await until(lambda: bool(audited(audit)))
    assert audited(audit) == [("h1", "cancelled")]
    assert fleet.started == ["h1"]


async def test_closing_leaves_nothing_running(audit: Audit) -> None:
    fleet = FakeFleet("h1", "h2")
    async with aclosing(act(actions("h1", "h2"), fleet, audit, read_only=False)) as feed:  # type: ignore[type-var] # a generator
        fleet.verdicts["h2"] = True
        assert (await anext(feed)).action.host == "h1"
    assert len(asyncio.all_tasks()) == 1


@fault("E15", how="--read-only", result="refused below the screen, nothing is sent")
async def test_a_read_only_console_sends_nothing(audit: Audit) -> None:
    fleet = FakeFleet("h1")
    (refused,) = [result async for result in act(actions("h1"), fleet, audit, read_only=True)]
    assert (refused.ok, refused.result) == (False, "refused")
    assert "read-only" in refused.message
    assert (fleet.started, audited(audit)) == ([], [])


@fault("E15", how="one of the hosts is in a read-only group", result="nothing is sent to any")
async def test_one_read_only_group_stops_all(audit: Audit) -> None:
    fleet = FakeFleet("h1", "h2", read_only=("h2",))
    results = await collected(act(actions("h1", "h2"), fleet, audit, read_only=False))
    assert results == {"h1": "skipped", "h2": "refused"}
    assert fleet.started == []


@pytest.mark.parametrize(("host", "unit"), [("h1", "ok.service;reboot"), ("h1", "../x.service"), ("h9", "a.service")])
async def test_what_makes_no_sense_is_not_sent(audit: Audit, host: str, unit: str) -> None:
    fleet = FakeFleet("h1")
    assert await collected(act(actions(host, unit=unit), fleet, audit, read_only=False)) == {host: "refused"}
    assert fleet.started == []


@fault("E16", how="the audit file cannot be written", result="nothing is sent")
async def test_without_the_audit_file_nothing_is_sent(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    fleet = FakeFleet("h1")
    (refused,) = [r async for r in act(actions("h1"), fleet, Audit(tmp_path / "file"), read_only=False)]
    assert "audit file cannot be written" in refused.message
    assert fleet.started == []


async def test_a_missing_line_is_said_loudly(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    audit = Audit(tmp_path / "file", required=False)
    (done,) = [r async for r in act(actions("h1"), FakeFleet("h1"), audit, read_only=False)]
    assert done.ok is True
    assert done.message.startswith("NOT AUDITED")
