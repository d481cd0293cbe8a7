"""Smoke, bench and figures of services on the screen."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from dflashtui.config.model import Config, Unit
from dflashtui.model.load import Load
from dflashtui.model.probe import GoodStart, Phase, PhaseTime
from dflashtui.model.rules import findings
from dflashtui.model.service import ServiceState
from dflashtui.model.unit import Readiness
from dflashtui.tui.details.service import service_lines
from dflashtui.tui.glyphs import unit_state
from dflashtui.tui.history import History
from dflashtui.tui.picture import Picture
from dflashtui.tui.rows.tables import SERVICES
from dflashtui.tui.rows.units import service_rows
from dflashtui.tui.serving.choices import service_choices
from dflashtui.tui.styled import plain
from dflashtui.tui.subject import unit_subject
from tests.engine.server import running
from tests.engine.settings import settings
from tests.tui.fake import console
from tests.tui.serving_keys import begin_bench, smoke
from tests.tui.stage import NOW, READY, STOPPED, ago, config_of, gpu, host, process, unit

if TYPE_CHECKING:
    from pathlib import Path

LOAD = Load(
    at=ago(2),
    interval_seconds=5.0,
    running=3,
    queued=2,
    output_tokens_per_second=812.4,
    accept_length=4.21,
    ttft_p50_ms=51.0,
    ttft_p95_ms=90.0,
)
BUSY = unit("busy.service", service=ServiceState.READY, load=LOAD)
QUIET = unit("quiet.service", service=ServiceState.PROVEN)


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path / "dflashtui"


def test_the_services_list_tells_load_speed_and_accept_length_and_sorts_by_them() -> None:
    rows = service_rows(Picture(NOW, hosts=(host("h", units=(QUIET, BUSY)),)))
    columns = [column.id for column in SERVICES.columns]
    load, tokens, accept = (columns.index(name) for name in ("load", "tokens", "accept"))
    quiet, busy = rows
    assert [plain(busy.cells[place]) for place in (load, tokens, accept)] == ["3+2", "812", "4.21"]
    assert [plain(quiet.cells[place]) for place in (load, tokens, accept)] == ["–", "–", "–"]
    assert [busy.values[place] for place in (load, tokens, accept)] == [5.0, 812.4, 4.21]
    assert [quiet.values[place] for place in (load, tokens, accept)] == [None, None, None]
    assert len(busy.cells) == len(busy.values) == len(columns)


@pytest.mark.parametrize(
    ("service", "word", "role"),
    [
        (ServiceState.PROVEN, "proven", "ok"),
        (ServiceState.HUNG, "hung", "bad"),
        (ServiceState.DEGRADED, "degraded", "warn"),
        (ServiceState.UNAUTHORISED, "up, locked", "warn"),
        (ServiceState.WRONG_SERVICE, "wrong service", "bad"),
        (ServiceState.READY, "ready", "ok"),
    ],
)
def test_states_have_words_of_their_own(service: ServiceState, word: str, role: str) -> None:
    state = unit_state(unit("a.service", service=service), NOW)
    assert (state.word, state.role) == (word, role)


def test_details_show_figures_with_their_age_and_plots_of_the_last_minutes() -> None:
    history = History()
    for seconds in range(5):
        load = LOAD.model_copy(update={"at": NOW + timedelta(seconds=seconds), "running": seconds})
        history.note(host("h", units=(BUSY.model_copy(update={"load": load}),)))
    samples = history.of_service("h", "busy.service")
    assert [sample.running for sample in samples] == [0, 1, 2, 3, 4]
    text = "\n".join(map(plain, service_lines(BUSY, samples, NOW, 60)))
    for words in (
        "3 run, 2 wait  metrics, 2s ago",
        "812.4 /s",
        "4.21 tokens",
        "51 ms  p95 90 ms",
        "tokens out, to 812.4/s",
    ):
        assert words in text
    assert "█" in text


def test_a_start_shows_its_step_and_a_service_without_metrics_says_why() -> None:
    phase = Phase(name="weights", words="loading weights", part="draft", percent=50)
    loading = unit(
        "a.service", service=ServiceState.LOADING, readiness=Readiness.LOADING, phase=phase, phase_since=ago(70)
    )
    text = "\n".join(map(plain, service_lines(loading, (), NOW, 60)))
    assert "loading weights of the draft model 50 %  for 1m10s" in text
    usual = GoodStart(at=ago(7200), seconds=180, phases=(PhaseTime(phase=phase, began_seconds=20, seconds=95),))
    slow = loading.model_copy(update={"started_at": ago(200)})
    text = "\n".join(map(plain, service_lines(slow, (), NOW, 90, usual)))
    assert "for 1m10s, 1m35s in the last good start" in text
    assert "3m20s so far  the last good one took 3m, 2h ago" in text
    silent = unit("a.service", service=ServiceState.READY, load_problem="no /metrics here")
    assert "no /metrics here" in "\n".join(map(plain, service_lines(silent, (), NOW, 60)))


def test_a_gpu_that_idles_while_requests_wait_and_one_that_is_slow_are_findings() -> None:
    idle = host("h", units=(BUSY,), gpus=(gpu(0, processes=(process(1, BUSY.name),), utilization_percent=0),))
    row = tuple(
        gpu(index, processes=(process(1, BUSY.name),), utilization_percent=90, clock_sm_mhz=clock)
        for index, clock in enumerate((1980, 1980, 1200))
    )
    assert [one.id for one in findings(idle, NOW)] == ["gpu-idle:busy.service@h"]
    (slow,) = findings(host("h", units=(BUSY,), gpus=row), NOW)
    assert slow.message == "GPU 2 runs at 1200 MHz, others of its row at 1980 MHz"
    hung = unit("a.service", service=ServiceState.HUNG, readiness_detail="no token came for 45 s")
    assert [one.message for one in findings(host("h", units=(hung,)), NOW)] == ["is hung: no token came for 45 s"]


def test_the_menu_offers_what_can_be_asked() -> None:
    picture = Picture(NOW, hosts=(host("h", units=(READY, BUSY, STOPPED)),))
    shared = Config(units=tuple(Unit(name=one.name, hosts=("h",), gpus=(0,)) for one in (READY, STOPPED)))
    one, two, stopped = (unit_subject("h", each.name) for each in (READY, BUSY, STOPPED))

    def offered(*subjects: object, config: Config = shared, may_change: bool = True) -> list[str]:
        return [choice.label for choice in service_choices(subjects, picture, config, may_change=may_change)]  # type: ignore[arg-type]

    assert offered(one) == ["smoke", "bench"]
    assert offered(stopped) == []
    assert offered(one, two) == ["bench A/B …"]
    assert offered(one, stopped) == ["bench A/B …"]
    assert offered(one, stopped, may_change=False) == []
    assert offered(one, two, stopped) == []


def kept(state: Path) -> int:
    return len(list(state.glob("bench/*.html")))


def served_by(port: int) -> Config:
    there = config_of(host("h-live", units=(READY,)))
    served = Unit(name=READY.name, hosts=("h-live",), engine="sglang", listen=f"127.0.0.1:{port}", model="stand-in")
    return there.model_copy(update={"units": (served,)})


async def test_smoke_shows_the_text_and_proves_the_run() -> None:
    async with (
        running(settings(["prefill_seconds=0.01", "verify_seconds=0.001", "log_steps=0"])) as engine,
        console(host("h-live", units=(READY,)), config=served_by(engine.port)) as c,
    ):
        await smoke(c)
        assert c.fleet.proofs == [("h-live", READY.name, "a completion by stand-in")]
        await c.press("escape")
        await c.until(lambda: c.app.screen is c.screen)


async def test_a_bench_is_asked_for_and_stops_with_what_it_has(state: Path) -> None:
    async with (
        running(settings(["prefill_seconds=0.01", "verify_seconds=0.001", "log_steps=0"])) as engine,
        console(host("h-live", units=(READY,)), config=served_by(engine.port)) as c,
    ):
        await begin_bench(c)
        await c.until(lambda: engine.counters.requests > 6)
        await c.press("escape")
        await c.sees("PARTIAL", "record: ", "escape closes")
    assert kept(state) == 1


async def test_leaving_the_console_ends_a_bench_without_a_fault() -> None:
    async with (
        running(settings(["prefill_seconds=0.01", "verify_seconds=0.001", "log_steps=0"])) as engine,
        console(host("h-live", units=(READY,)), config=served_by(engine.port)) as c,
    ):
        await begin_bench(c)
        await c.until(lambda: engine.counters.requests > 2)
