"""Five hundred hosts, half of them dead, two that come and go; and a console whose own clock is set back."""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import TYPE_CHECKING

from dflashtui.check.run import CheckOptions, check
from dflashtui.config.model import Config, Host
from dflashtui.errors import Unreachable
from dflashtui.exit_code import ExitCode
from dflashtui.fleet import clock_steps, supervise
from dflashtui.fleet.fleet import RealFleet
from dflashtui.fleet.look import FleetLook
from dflashtui.fleet.serve import BOOT_ID
from dflashtui.model.host import LinkState
from dflashtui.tui.app import DflashApp, Options
from dflashtui.tui.outline import Outline
from dflashtui.tui.start import now
from tests.faults.marks import fault
from tests.support.fake_transport import FakeTransport
from tests.support.until import until

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    import pytest

HOSTS, ON_SCREEN, FLAPPING = 500, 100, 2


class Crowd:
    """Names by kind; every attempt is counted."""

    def __init__(self, hosts: int = HOSTS) -> None:
        self.attempts: Counter[str] = Counter()
        self.dead = hosts // 2
        self.up = hosts - self.dead - FLAPPING
        kinds = (("dead", self.dead), ("flap", FLAPPING), ("live", self.up))
        self.names = [f"{kind}-{number:03}" for kind, count in kinds for number in range(count)]
        self.config = Config(hosts=tuple(Host(name=name) for name in self.names))
        self.silent = False
        """The dead give no answer at all."""

    @asynccontextmanager
    async def open(self, host: Host, report_step: Callable[[str], None]) -> AsyncIterator[FakeTransport]:
        self.attempts[host.name] += 1
        report_step("connect")
        await asyncio.sleep(600 if self.silent and host.name.startswith("dead") else 0.01)
        if host.name.startswith("dead"):
            raise Unreachable(host.name, "did not answer within 10 s")
        transport = FakeTransport(host.name)
        transport.answer(*BOOT_ID, stdout=b"0123\n")
        if host.name.startswith("flap"):
            asyncio.get_running_loop().call_later(0.1, transport.lose)
        yield transport

    def most(self, kind: str) -> int:
        return max(count for name, count in self.attempts.items() if name.startswith(kind))


@fault(
    "A24",
    how="100 hosts on the screen, 50 dead, two that flap",
    result="the others are up at once, keys are answered",
    stand_in="hosts behind the fake transport",
)
async def test_a_crowd_half_dead_on_the_screen() -> None:
    crowd = Crowd(ON_SCREEN)
    fleet = RealFleet(crowd.config, crowd.open, sources=frozenset())
    app = DflashApp(Outline(fleet.names, theme="dflash-dark"), lambda: (crowd.config, fleet), Options(), now)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(lambda: states(fleet)[LinkState.UP] >= crowd.up)
        slowest = 0.0
        for _ in range(3):
            pressed = time.process_time()
            await pilot.press("j")
            slowest = max(slowest, time.process_time() - pressed)
        await until(lambda: f"hosts {crowd.up}" in picture(app))
    assert slowest < 1


@fault("A24", how="500 hosts, 250 dead, two that flap", result="waits grow, no storm of logins; flapping is said")
async def test_a_crowd_half_dead_holds_up_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervise, "FLAPPING_LOSSES", 2)
    crowd, began = Crowd(), time.monotonic()
    async with RealFleet(crowd.config, crowd.open, sources=frozenset()) as fleet:
        await until(lambda: states(fleet)[LinkState.UP] >= crowd.up)
        assert time.monotonic() - began < 10
        await until(lambda: (fleet.snapshot("flap-000").link.error or "").startswith("flapping, "))
        error, seconds = fleet.snapshot("flap-000").link.error or "", time.monotonic() - began
        assert states(fleet)[LinkState.UNREACHABLE] >= crowd.dead - 20
    assert crowd.most("live") == 1
    assert max(crowd.most("dead"), crowd.most("flap")) <= 3 + seconds, "a storm of attempts"
    assert "links lost within 10 minutes; cut by the test" in error


def states(fleet: RealFleet) -> Counter[LinkState]:
    return Counter(fleet.snapshot(name).link.state for name in fleet.names)


def picture(app: DflashApp) -> str:
    return "\n".join(strip.text for strip in app.screen._compositor.render_strips())


@fault("A24", how="the same by --check; the dead give no answer", result="ends in time; each host is told of")
async def test_a_check_of_a_crowd_ends_in_time() -> None:
    crowd, written = Crowd(), list[str]()
    crowd.silent = True
    began = time.monotonic()
    code = await check(FleetLook(crowd.config, crowd.open), CheckOptions(1.0, as_json=True), written.append)
    assert time.monotonic() - began < 6
    assert code == ExitCode.UNKNOWN
    told = Counter(host["state"] for host in json.loads(written[0])["hosts"])
    assert told.total() == HOSTS
    assert told["connecting"] + told["unreachable"] >= crowd.dead
    assert told["up"] == 0, "without systemctl there is nothing to call up"


@fault(
    "A23",
    how="the clock of the console is set back an hour while a host is lost",
    result="its values stay as old as they are",
    stand_in="faketime",
)
async def test_a_clock_that_is_set_back_makes_nothing_younger(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock_steps, "PERIOD_SECONDS", 0.01)
    crowd = Crowd()
    config = Config(hosts=(Host(name="live-000"), Host(name="dead-000")))
    async with RealFleet(config, crowd.open, sources=frozenset()) as fleet:
        await until(lambda: fleet.snapshot("live-000").observed_at and fleet.snapshot("dead-000").link.retry_at)
        before = [fleet.snapshot(name) for name in fleet.names]
        wall = [1_000_000.0]
        states_ = [service.state for service in fleet._services.values()]
        following = asyncio.create_task(clock_steps.follow_clock(states_, lambda: wall[0], lambda: 5.0))
        await asyncio.sleep(0)
        wall[0] -= 3600
        await until(lambda: fleet.snapshot("live-000").observed_at != before[0].observed_at)
        wall[0] += 3600
        await asyncio.sleep(0.03)
        following.cancel()
        after = [fleet.snapshot(name) for name in fleet.names]
    hour = timedelta(hours=1)
    assert before[0].observed_at
    assert before[1].link.retry_at
    assert after[0].observed_at == before[0].observed_at - hour
    assert after[1].link.retry_at == before[1].link.retry_at - hour
