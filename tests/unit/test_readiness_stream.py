"""Services are asked gently, and often while somebody watches them start."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from dflashtui.config.model import Config, Host, ReadinessRule, Unit
from dflashtui.fleet.board import Board
from dflashtui.fleet.host_state import HostState
from dflashtui.fleet.plan import first_snapshot, host_plan
from dflashtui.fleet.readiness_stream import ReadinessStream
from dflashtui.model.unit import ActiveState, LoadState, Readiness, UnitStatus
from tests.support.fake_transport import FakeTransport
from tests.support.until import until

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

UNIT = "sglang.service"
QUIET = "quiet.service"


class Service:
    """A small HTTP server that counts who asks."""

    def __init__(self) -> None:
        self.status = b"503 Service Unavailable"
        self.asked: list[bytes] = []

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.asked.append((await reader.readuntil(b"\r\n\r\n")).split()[1])
        writer.write(b"HTTP/1.1 " + self.status + b"\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        await writer.drain()
        writer.close()


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


async def test_a_start_that_is_watched_is_asked_more_often_than_a_quiet_one() -> None:
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
