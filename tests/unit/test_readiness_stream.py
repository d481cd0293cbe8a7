"""Services are asked gently, and often while somebody watches them start."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from dflashtui.config.model import Config, Host, ReadinessRule, Unit
from dflashtui.fleet.board import Board
from dflashtui.fleet.host_state import HostState
from dflashtui.fleet.plan import first_snapshot, host_plan
from dflashtui.fleet.readiness_stream import ReadinessStream
from dflashtui.model.probe import Phase
from dflashtui.model.unit import ActiveState, LoadState, Readiness, UnitStatus
from tests.faults.marks import fault
from tests.support.fake_transport import FakeTransport
from tests.support.until import until

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    import pytest

UNIT = "sglang.service"
QUIET = "quiet.service"


class Service:
    """A small HTTP server that counts who asks."""

    def __init__(self) -> None:
        self.status = b"503 Service Unavailable"
        self.asked: list[bytes] = []
        self.most_at_once = 0
        self._at_once = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._at_once += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        self.asked.append((await reader.readuntil(b"\r\n\r\n")).split()[1])
        writer.write(b"HTTP/1.1 " + self.status + b"\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        await writer.drain()
        writer.close()
        self._at_once -= 1


@asynccontextmanager
async def watched(service: Service, transport: FakeTransport) -> AsyncIterator[tuple[ReadinessStream, HostState]]:
    server = await asyncio.start_server(service.serve, "127.0.0.1", 0)
    transport.ports[("127.0.0.1", 30001)] = ("127.0.0.1", server.sockets[0].getsockname()[1])
    host = Host(name="a")
    quiet = ReadinessRule(url="http://127.0.0.1:30001/quiet")
    watched = Unit(name=UNIT, hosts=("a",), engine="vllm", listen="127.0.0.1:30001")
    config = Config(hosts=(host,), units=(watched, Unit(name=QUIET, hosts=("a",), readiness=quiet)))
    plan = host_plan(config, host)
    state = HostState(plan, Board((first_snapshot(config, host),)))
    state.units(tuple(map(active, (UNIT, QUIET))))
    stream = ReadinessStream(state, plan.readiness_rules, plan.asked_from_console)
    task = asyncio.create_task(stream.run(transport))
    try:
        yield stream, state
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        server.close()
        await server.wait_closed()


def active(name: str) -> UnitStatus:
    return UnitStatus(name=name, load_state=LoadState.LOADED, active_state=ActiveState.ACTIVE, invocation_id="a" * 32)


def readiness(state: HostState) -> UnitStatus:
    return state.snapshot.unit(UNIT) or UnitStatus(name="none")


async def test_a_start_that_is_watched_is_asked_more_often_than_a_quiet_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dflashtui.engines.answers.LOADING_POLL_SECONDS", (3600.0,))
    service = Service()
    async with watched(service, FakeTransport()) as (stream, _):
        await until(lambda: service.asked.count(b"/quiet") == 1)
        with stream.hurry(UNIT):
            before = len(service.asked)
            await until(lambda: service.asked.count(b"/health") >= before + 4)
        assert service.asked.count(b"/quiet") < service.asked.count(b"/health")


async def test_asking_at_once_does_not_wait_for_the_pause() -> None:
    service = Service()
    async with watched(service, FakeTransport()) as (stream, state):
        with stream.hurry(UNIT) as ask_now:
            await until(lambda: len(service.asked) >= 6)
            service.status = b"200 OK"
            ask_now()
            await until(lambda: readiness(state).readiness is Readiness.READY)


async def test_a_server_of_another_unit_on_the_port_does_not_make_it_ready() -> None:
    service, transport = Service(), FakeTransport()
    service.status = b"200 OK"
    transport.answer("ss", stdout=b'LISTEN 0 5 127.0.0.1:30001 0.0.0.0:* users:(("old",pid=7,fd=3))\n')
    transport.answer("grep", stdout=b"/proc/7/cgroup:0::/system.slice/old.service\n")
    async with watched(service, transport) as (stream, state):
        with stream.hurry(UNIT) as ask_now:
            await until(lambda: "of old.service" in (readiness(state).readiness_detail or ""))
            assert readiness(state).readiness is Readiness.LOADING
            transport.answer("grep", stdout=f"/proc/7/cgroup:0::/system.slice/{UNIT}\n".encode())
            ask_now()
            await until(lambda: readiness(state).readiness is Readiness.READY)


async def test_a_log_that_tells_of_the_end_of_the_start_cuts_a_long_pause_short(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("dflashtui.engines.answers.LOADING_POLL_SECONDS", (3600.0,))
    service = Service()
    async with watched(service, FakeTransport()) as (_, state):
        await until(lambda: state.known_answer(UNIT) is not None)
        service.status = b"200 OK"
        phase = Phase(name="warm-up", words="warming up")
        state.note_run(UNIT, "a" * 32, phase=phase, phase_since=datetime.now(UTC))
        await until(lambda: readiness(state).readiness is Readiness.READY)


@fault("F9", how="two watch one unit", result="one question at a time, as often as for one")
async def test_two_who_watch_share_the_questions() -> None:
    service, transport = Service(), FakeTransport()
    async with watched(service, transport) as (stream, state):
        with stream.hurry(UNIT), stream.hurry(UNIT):
            await until(lambda: service.asked.count(b"/health") >= 2)
            assert service.most_at_once <= 2, "one for each unit"
            service.status = b"200 OK"
            await until(lambda: readiness(state).readiness is Readiness.READY)
        assert not +stream._hurried


@fault("F4", how="nobody answers where it is asked, it listens on ::1", result="the detail says where it listens")
async def test_a_service_that_listens_elsewhere_is_told() -> None:
    transport = FakeTransport()
    ss = b'LISTEN 0 128 [::1]:30001 [::]:* users:(("python3",pid=12,fd=5))\n'
    transport.answer("ss", stdout=ss)
    transport.answer("grep", stdout=f"/proc/12/cgroup:0::/system.slice/{UNIT}\n".encode())
    async with watched(Service(), transport) as (stream, state):
        transport.ports.clear()
        with stream.hurry(UNIT):
            await until(lambda: "it listens on [::1]:30001" in (readiness(state).readiness_detail or ""))
    assert readiness(state).readiness is Readiness.LOADING
