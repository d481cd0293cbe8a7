"""Stand-in engines as real units on a real host: smoke, bench, and what an interrupted bench leaves."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from dflashtui.cli.fleets import opener
from dflashtui.config.read import load
from dflashtui.fleet.fleet import RealFleet
from dflashtui.model.service import ServiceState
from tests.fleet import standin
from tests.support.until import until

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator
    from pathlib import Path

    from dflashtui.fleet.base import Change
    from dflashtui.model.unit import UnitStatus
    from tests.fleet.harness.fleet import TestFleet

pytestmark = pytest.mark.timeout(90)

HOST, KEY = "gpu-a", "hush-hush-fleet-1"
TIMES = "prefill_seconds=0.02 verify_seconds=0.002 tokens=40 phase_seconds=0.01 log_steps=400"
SMALL = ("--levels", "1,2", "--repeats", "1", "--requests", "4", "--max-tokens", "32")


@pytest.fixture
def config(fleet: TestFleet, tmp_path: Path) -> Iterator[Path]:
    """An inventory with two units that share a GPU: plain, and with speculation; the first one runs."""
    standin.remove(fleet, HOST, "plain", "spec")
    defined = [
        standin.install(fleet, HOST, "plain", 30010, f"kind=vllm {TIMES}", key=KEY),
        standin.install(fleet, HOST, "spec", 30011, f"kind=vllm {TIMES} accept=3,5", key=KEY),
    ]
    path = tmp_path / "hosts.toml"
    path.write_text("\n".join([fleet.config_path.read_text(), *defined]))
    fleet.start(HOST, "plain.service")
    yield path
    standin.remove(fleet, HOST, "plain", "spec")


def command(config: Path, *words: str) -> tuple[list[str], dict[str, str]]:
    argv = [sys.executable, "-m", "dflashtui", "-c", str(config), "--host", HOST, *words]
    return argv, {**os.environ, "XDG_STATE_HOME": str(config.parent / "state")}


def dflashtui(config: Path, *words: str, code: int = 0) -> str:
    argv, environment = command(config, *words)
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=80, env=environment)
    assert "Traceback" not in done.stderr
    assert KEY not in done.stdout + done.stderr
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout


def states(fleet: TestFleet) -> list[str]:
    return [fleet.show(HOST, f"{name}.service")["ActiveState"] for name in ("plain", "spec")]


def test_smoke_asks_through_ssh_with_the_key_of_the_unit(fleet: TestFleet, config: Path) -> None:
    found = json.loads(dflashtui(config, "smoke", "--json", "plain"))
    assert (found["schema"], found["verdict"], found["model"]) == (1, "proven", "stand-in")
    assert found["ttft_ms"] >= 20
    assert found["output_tokens"]


def test_bench_lets_two_units_take_turns_and_keeps_a_record(fleet: TestFleet, config: Path) -> None:
    found = json.loads(dflashtui(config, "bench", "plain", "spec", *SMALL, "--yes", "--json"))
    assert (found["verdict"], found["order"], found["invalid"]) == ("compared", ["A", "B"], [])
    assert found["sameness"] == {"pairs": 4, "identical": 4, "differences": [], "broken": []}
    assert all(level["throughput_ratio"] > 1 for level in found["speedups"])
    spec = found["sides"][1]
    assert spec["levels"][0]["accept_length"] > 3
    assert spec["facts"]["gpus"][0]["name"] == "NVIDIA H200"
    assert states(fleet) == ["active", "inactive"]
    (record,) = (config.parent / "state/dflashtui/bench").glob("*.json")
    (page,) = (config.parent / "state/dflashtui/bench").glob("*.html")
    assert json.loads(record.read_text())["verdict"] == "compared"
    assert "<svg" in page.read_text()
    assert KEY not in record.read_text() + page.read_text()


async def test_an_interrupted_bench_leaves_its_part_and_the_units_as_they_were(fleet: TestFleet, config: Path) -> None:
    argv, environment = command(config, "bench", "plain", "spec", "--levels", "1", "--requests", "400", "--yes")
    running = subprocess.Popen(  # noqa: ASYNC220 - a program of its own, as a person starts it
        argv,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509 - as a shell starts it
    )
    try:
        await until(lambda: fleet.exec(HOST, "pgrep", "-f", "port=30010").returncode == 0)
        await until(lambda: _requests(fleet) > 8)
        running.send_signal(signal.SIGINT)
        output, errors = running.communicate(timeout=30)
    finally:
        running.kill()
    assert running.returncode == 130, errors
    assert output.startswith("PARTIAL")
    assert states(fleet) == ["active", "inactive"]
    (record,) = (config.parent / "state/dflashtui/bench").glob("*.json")
    kept = json.loads(record.read_text())
    assert kept["is_partial"]
    (run,) = kept["sides"][0]["runs"]
    assert (run["is_whole"], 0 < len(run["requests"]) < 400) == (False, True)


async def test_live_figures_and_an_end_that_nobody_asked_for(fleet: TestFleet, config: Path) -> None:
    found = load(config)
    only = found.model_copy(update={"hosts": tuple(one for one in found.hosts if one.name == HOST)})
    dying = f"port=30011 {TIMES} crash=exit0 kind=vllm"
    unit = standin.UNIT.format(name="spec", folder=standin.FOLDER, words=dying)
    fleet.write_file(HOST, "/etc/systemd/system/spec.service", unit)
    fleet.check(HOST, "systemctl", "daemon-reload")
    async with RealFleet(only, opener()) as real, real.subscribe() as changes:
        plain = await anext_unit(changes, "plain.service", lambda one: one.load is not None)
        assert (plain.service, plain.load.via if plain.load else None) == (ServiceState.READY, "metrics")
        assert plain.load is not None
        assert (plain.load.running, plain.load.queued) == (0, 0)
        assert json.loads(truth(fleet))["generated"] == 0
        fleet.start(HOST, "spec.service")
        await anext_unit(changes, "spec.service", lambda one: one.service is ServiceState.UNEXPECTED_EXIT)
        fleet.stop(HOST, "plain.service")
        await anext_unit(changes, "plain.service", lambda one: one.service is ServiceState.STOPPED)


async def anext_unit(changes: AsyncIterator[Change], name: str, holds: Callable[[UnitStatus], bool]) -> UnitStatus:
    """The unit, as soon as it is so."""
    async for change in changes:
        unit = change.snapshot.unit(name)
        if change.host == HOST and unit is not None and holds(unit):
            return unit
    raise AssertionError("the fleet goes on")


TRUTH = "import urllib.request as r; print(r.urlopen('http://127.0.0.1:30010/truth').read().decode())"


def _requests(fleet: TestFleet) -> int:
    told = truth(fleet)
    return int(json.loads(told)["requests"]) if told else 0


def truth(fleet: TestFleet) -> bytes:
    return fleet.exec(HOST, "python3", "-c", TRUTH).stdout
