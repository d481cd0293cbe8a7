"""What is known of a service becomes one state, with its evidence; figures come without disturbing it."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from dflashtui.config.model import Config, Host, Unit
from dflashtui.engines.answers import Answer, Asked, judged
from dflashtui.fleet import metrics_stream
from dflashtui.fleet.board import Board
from dflashtui.fleet.host_state import HostState
from dflashtui.fleet.metrics_stream import MetricsStream
from dflashtui.fleet.plan import first_snapshot, host_plan
from dflashtui.fleet.service_logs import STOPPING, ServiceLogs
from dflashtui.model.journal import JournalEntry
from dflashtui.model.load import Load
from dflashtui.model.service import ServiceState
from dflashtui.model.unit import ActiveState, LoadState, Readiness, UnitStatus
from tests.engine.phases import SGLANG
from tests.engine.server import Engine, running
from tests.engine.settings import settings
from tests.support.fake_transport import FakeTransport
from tests.support.until import until

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

NAME, RUN, AT = "sglang.service", "a" * 32, datetime(2026, 12, 3, tzinfo=UTC)
OK = Answer("http://127.0.0.1:30001/health", 200)
ACTIVE = UnitStatus(
    name=NAME, load_state=LoadState.LOADED, active_state=ActiveState.ACTIVE, sub_state="running", invocation_id=RUN
)


def host_state(engine: str = "sglang") -> tuple[HostState, ServiceLogs]:
    host = Host(name="a")
    unit = Unit.model_validate({"name": NAME, "hosts": ("a",), "engine": engine, "listen": "127.0.0.1:30001"})
    config = Config(hosts=(host,), units=(unit,))
    plan = host_plan(config, host)
    state = HostState(plan, Board((first_snapshot(config, host),)), lambda: AT)
    state.units((ACTIVE,))
    return state, ServiceLogs(state, plan.engines)


def line(text: str, *, is_manager: bool = False) -> JournalEntry:
    run = None if is_manager else RUN
    mark = STOPPING if is_manager else None
    return JournalEntry(
        cursor="c", at=AT, message=text, unit=NAME, invocation_id=run, from_manager=is_manager, message_id=mark
    )


def unit_of(state: HostState) -> UnitStatus:
    found = state.snapshot.unit(NAME)
    assert found is not None
    return found


def test_a_start_goes_through_its_phases_with_target_and_draft_apart() -> None:
    state, logs = host_state()
    state.asked(NAME, judged(Asked(RUN), Answer(OK.url, error="connection refused"), proof=True))
    seen = []
    for text in SGLANG:
        logs.hear((line(text),))
        phase = unit_of(state).phase
        assert phase is not None
        seen.append(phase.key)
    assert [key for key in dict.fromkeys(seen) if key.startswith("weights")] == ["weights:target", "weights:draft"]
    assert unit_of(state).service is ServiceState.LOADING
    logs.hear((line("INFO:     Uvicorn running on http://127.0.0.1:30001"),))
    assert unit_of(state).service is ServiceState.WARMING
    state.asked(NAME, judged(Asked(RUN), OK, proof=True))
    assert (unit_of(state).service, unit_of(state).phase) == (ServiceState.READY, None)


def test_a_completion_proves_this_run_and_no_later_one() -> None:
    state, _ = host_state()
    state.asked(NAME, judged(Asked(RUN), OK, proof=True))
    state.proven(NAME, "a completion by stand-in")
    assert (unit_of(state).service, unit_of(state).readiness_detail) == (
        ServiceState.PROVEN,
        "a completion by stand-in",
    )
    state.units((ACTIVE.model_copy(update={"invocation_id": "b" * 32}),))
    assert unit_of(state).service is ServiceState.UNKNOWN


@pytest.mark.parametrize(
    ("load", "expected", "words"),
    [
        (Load(at=AT, running=2, stalled_seconds=45.0), ServiceState.HUNG, "no token came for 45 s"),
        (Load(at=AT, running=2, stalled_seconds=5.0), ServiceState.READY, "GET /health 200"),
        (Load(at=AT, running=2, cuda_graph=False), ServiceState.DEGRADED, "CUDA graphs"),
        (Load(at=AT, running=1, queued=9, queue_grows=True), ServiceState.DEGRADED, "9 wait"),
    ],
)
def test_figures_tell_of_a_service_that_answers_but_does_not_work(
    load: Load, expected: ServiceState, words: str
) -> None:
    state, _ = host_state()
    state.asked(NAME, judged(Asked(RUN), OK, proof=True))
    state.note_run(NAME, RUN, load=load)
    assert unit_of(state).service is expected
    assert words in (unit_of(state).readiness_detail or "")


@pytest.mark.parametrize(
    ("status", "expected"), [(401, ServiceState.UNAUTHORISED), (503, ServiceState.WARMING), (404, ServiceState.LOADING)]
)
def test_answers_that_are_neither_yes_nor_no(status: int, expected: ServiceState) -> None:
    state, _ = host_state()
    state.asked(NAME, judged(Asked(RUN), Answer(OK.url, status), proof=True))
    assert unit_of(state).service is expected


def test_an_end_with_status_0_that_nobody_asked_for_is_unexpected() -> None:
    ended = ACTIVE.model_copy(
        update={
            "active_state": ActiveState.INACTIVE,
            "sub_state": "dead",
            "exec_main_code": 1,
            "exec_main_status": 0,
            "result": "success",
        }
    )
    state, logs = host_state("vllm")
    state.units((ended,))
    assert unit_of(state).service is ServiceState.UNEXPECTED_EXIT
    state, logs = host_state("vllm")
    logs.hear((line("Stopping vllm...", is_manager=True),))
    state.units((ended,))
    assert unit_of(state).service is ServiceState.STOPPED


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"active_state": ActiveState.DEACTIVATING}, ServiceState.DRAINING),
        ({"active_state": ActiveState.FAILED}, ServiceState.FAILED),
        ({"active_state": ActiveState.ACTIVATING, "sub_state": "auto-restart"}, ServiceState.CRASH_LOOP),
        ({"active_state": ActiveState.INACTIVE, "load_state": LoadState.NOT_FOUND}, ServiceState.NOT_INSTALLED),
        ({"active_state": ActiveState.INACTIVE}, ServiceState.STOPPED),
    ],
)
def test_what_the_manager_says_alone(changes: dict[str, object], expected: ServiceState) -> None:
    state, _ = host_state()
    state.units((ACTIVE.model_copy(update=changes),))
    assert unit_of(state).service is expected


@asynccontextmanager
async def read(words: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[tuple[HostState, Engine]]:
    """A ready service whose metrics are read often."""
    monkeypatch.setattr(metrics_stream, "INTERVAL_SECONDS", 0.05)
    monkeypatch.setattr(metrics_stream, "TICK_SECONDS", 0.02)
    async with running(settings(words.split())) as engine:
        transport = FakeTransport()
        transport.ports[("127.0.0.1", 30001)] = ("127.0.0.1", engine.port)
        state, _ = host_state()
        state.asked(NAME, judged(Asked(RUN), OK, proof=True))
        rules = host_plan(
            Config(
                hosts=(Host(name="a"),),
                units=(Unit(name=NAME, hosts=("a",), engine="sglang", listen="127.0.0.1:30001"),),
            ),
            Host(name="a"),
        ).readiness_rules
        task = asyncio.create_task(MetricsStream(state, rules, set()).run(transport))
        try:
            yield state, engine
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)


async def test_figures_are_read_one_at_a_time_and_nothing_is_generated(monkeypatch: pytest.MonkeyPatch) -> None:
    async with read("kind=sglang", monkeypatch) as (state, engine):
        engine.counters.running = 3
        await until(lambda: (load := unit_of(state).load) and load.running == 3)
        engine.counters.running = 4
        await until(lambda: (load := unit_of(state).load) and load.running == 4)
        assert set(engine.paths) == {"/metrics"}
        assert (engine.most_in_flight, engine.counters.generated) == (1, 0)
    assert unit_of(state).readiness is Readiness.READY


async def test_a_service_without_metrics_is_said_and_asked_rarely(monkeypatch: pytest.MonkeyPatch) -> None:
    async with read("faults=no-metrics", monkeypatch) as (state, engine):
        await until(lambda: unit_of(state).load_problem)
        assert "--enable-metrics" in (unit_of(state).load_problem or "")
        state.note_log_load(NAME, RUN, Load(at=AT, via="log", running=7))
        assert (load := unit_of(state).load) is not None
        assert (load.via, load.running) == ("log", 7)
        assert engine.paths == ["/metrics"]
