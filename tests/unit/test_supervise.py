"""A host is served until cancelled; what waiting cannot cure waits for a person."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import cast

import pytest

from dflashtui.config.model import Config, Host
from dflashtui.errors import (
    AuthDenied,
    DflashError,
    HostKeyRejected,
    TransportLost,
    TransportMisconfigured,
    Unreachable,
)
from dflashtui.fleet.backoff import CAP_SECONDS, Backoff
from dflashtui.fleet.board import Board
from dflashtui.fleet.host_state import HostState
from dflashtui.fleet.plan import host_plan
from dflashtui.fleet.supervise import Supervisor
from dflashtui.model.host import HostSnapshot, Link, LinkState
from dflashtui.transport.base import Transport
from tests.faults.marks import fault


class Stage:
    """A host whose connection attempts end as scripted."""

    def __init__(self, *script: DflashError | None) -> None:
        self.board = Board([HostSnapshot(name="a")])
        self.state = HostState(host_plan(Config(), Host(name="a")), self.board)
        self.script = list(script)
        self.attempts = 0
        self.lose = asyncio.Event()
        self.supervisor = Supervisor(self.state, self.connect, self.serve)

    @asynccontextmanager
    async def _open(self, report_step: Callable[[str], None]) -> AsyncIterator[Transport]:
        self.attempts += 1
        report_step("handshake")
        failure = self.script.pop(0) if self.script else None
        if failure:
            raise failure
        yield cast("Transport", object())

    def connect(self, report_step: Callable[[str], None]) -> AbstractAsyncContextManager[Transport]:
        return self._open(report_step)

    async def serve(self, transport: Transport) -> None:
        await self.lose.wait()
        raise TransportLost("a", "cut")

    async def reaches(self, state: LinkState) -> Link:
        async with asyncio.timeout(5):
            with self.board.subscribe() as changes:
                async for change in changes:
                    if change.snapshot.link.state is state and change.snapshot.link.step is None:
                        return change.snapshot.link
        raise AssertionError


@pytest.fixture
async def running() -> AsyncIterator[Callable[[Stage], None]]:
    async with asyncio.TaskGroup() as group:
        tasks = []
        yield lambda stage: tasks.append(group.create_task(stage.supervisor.run()))
        for task in tasks:
            task.cancel()


@fault("A1", how="a host that cannot be reached", result="tried again, and says when")
async def test_an_unreachable_host_is_tried_again_and_says_when(running: Callable[[Stage], None]) -> None:
    stage = Stage(Unreachable("a", "connection refused"))
    running(stage)
    link = await stage.reaches(LinkState.UNREACHABLE)
    assert link.error == "connection refused"
    assert link.retry_at is not None
    stage.supervisor.retry_now()
    assert (await stage.reaches(LinkState.UP)).error is None


@pytest.mark.parametrize(
    ("failure", "state"),
    [
        (AuthDenied("a", "no key"), LinkState.AUTH_FAILED),
        (HostKeyRejected("a", "unknown", kind="unknown", line="a ssh-ed25519 AAAA"), LinkState.HOSTKEY_UNKNOWN),
        (HostKeyRejected("a", "changed", kind="changed", fingerprints=("SHA256:x",)), LinkState.HOSTKEY_CHANGED),
        (TransportMisconfigured("a", "~/.ssh/config line 3"), LinkState.MISCONFIGURED),
    ],
)
async def test_what_waiting_cannot_cure_waits_for_a_person(
    running: Callable[[Stage], None], failure: DflashError, state: LinkState
) -> None:
    stage = Stage(failure)
    running(stage)
    link = await stage.reaches(state)
    assert (link.retry_at, stage.attempts) == (None, 1)
    stage.supervisor.retry_now()
    await stage.reaches(LinkState.UP)
    assert stage.attempts == 2


async def test_a_lost_link_is_said_and_mended(running: Callable[[Stage], None]) -> None:
    stage = Stage()
    running(stage)
    await stage.reaches(LinkState.UP)
    stage.lose.set()
    assert (await stage.reaches(LinkState.UNREACHABLE)).error == "cut"


async def test_a_refused_key_outweighs_a_lost_link(running: Callable[[Stage], None]) -> None:
    stage = Stage(cast("DflashError", BaseExceptionGroup("both", [TransportLost("a", "x"), AuthDenied("a", "no")])))
    running(stage)
    assert (await stage.reaches(LinkState.AUTH_FAILED)).error == "no"


def test_waits_grow_to_the_cap_and_start_over_after_a_link_that_stayed() -> None:
    backoff = Backoff()
    waits = [backoff.next_seconds(lived_seconds=0.0) for _ in range(12)]
    assert waits[0] <= 1.0 < waits[-1] <= CAP_SECONDS
    assert waits[-1] >= CAP_SECONDS / 2
    assert backoff.next_seconds(lived_seconds=3.0) >= CAP_SECONDS / 2
    assert backoff.next_seconds(lived_seconds=600.0) <= 1.0


async def test_a_fault_of_our_own_on_one_host_is_said_and_stays_its_own(running: Callable[[Stage], None]) -> None:
    broken, well = Stage(cast("DflashError", RuntimeError("surprise"))), Stage()
    running(broken)
    running(well)
    assert "a fault of dflashtui itself" in str((await broken.reaches(LinkState.UNREACHABLE)).error)
    await well.reaches(LinkState.UP)


async def test_it_ends_when_it_is_called_off_as_its_link_is_lost() -> None:
    """Both in one turn of the loop: a TaskGroup then tells of the loss alone."""
    stage = Stage()

    async def serve(_: Transport) -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(stage.serve(_))

    supervisor = Supervisor(stage.state, stage.connect, serve)
    running = asyncio.create_task(supervisor.run())
    await stage.reaches(LinkState.UP)
    stage.lose.set()
    while stage.state.snapshot.link.state is LinkState.UP and not running.cancelling():
        await asyncio.sleep(0)
        supervisor.leave()
        running.cancel()
    done, _ = await asyncio.wait([running], timeout=5)
    assert done
    assert running.cancelled()


async def test_a_link_that_is_lost_in_a_group_is_made_anew() -> None:
    """A group that fails leaves a cancellation behind that nobody asked for (Python 3.11)."""
    stage = Stage()

    async def serve(_: Transport) -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(asyncio.sleep(600))
            group.create_task(stage.serve(_))

    supervisor = Supervisor(stage.state, stage.connect, serve)
    running = asyncio.create_task(supervisor.run())
    for attempt in (1, 2, 3):
        await stage.reaches(LinkState.UP)
        assert stage.attempts == attempt
        stage.lose.set()
        await stage.reaches(LinkState.UNREACHABLE)
        stage.lose.clear()
        supervisor.retry_now()
    supervisor.leave()
    running.cancel()
    await asyncio.wait([running])
