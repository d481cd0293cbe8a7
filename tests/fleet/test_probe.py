"""The story as a test: real units on real hosts, each with its verdict and its cause."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

from dflashtui.cli.fleets import opener
from dflashtui.config.read import load
from dflashtui.fleet.fleet import RealFleet
from dflashtui.model.action import UnitAction, Verb
from dflashtui.model.host import LinkState
from dflashtui.model.probe import Verdict
from dflashtui.ops.evidence import Evidence
from dflashtui.ops.probe import Probe
from dflashtui.ops.probe_wanted import Wanted
from tests.faults.marks import fault

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

    from dflashtui.model.action import ActionResult
    from dflashtui.model.probe import ProbeResult, ProbeUpdate
    from tests.fleet.harness.fleet import TestFleet

pytestmark = pytest.mark.timeout(60)

PORTS = {"ok": 30001, "late-port": 30001, "recovers": 30006}
OTHERS = ("import-error", "loop", "child", "cuda", "late-import", "never")
"""Engines of the kind sglang whose port nobody opens."""


@pytest.fixture
def config(fleet: TestFleet, tmp_path: Path) -> Iterator[Path]:
    """The fleet's inventory, with the engines of its units, none of which runs before or after."""
    _stop_all(fleet)
    yield _inventory(fleet, tmp_path / "hosts.toml")
    fleet.join("gpu-a")
    _stop_all(fleet)


def _stop_all(fleet: TestFleet) -> None:
    fleet.exec("gpu-a", "systemctl", "kill", "--signal=KILL", "--", "sglang-*")
    fleet.check("gpu-a", "systemctl", "stop", "--", "sglang-*")
    fleet.exec("gpu-a", "systemctl", "reset-failed", "--", "sglang-*")


def _inventory(fleet: TestFleet, path: Path) -> Path:
    ports = {**PORTS, **{name: 30100 + place for place, name in enumerate(OTHERS)}}
    units = [f'[units."sglang-{name}.service"]\nlisten = "127.0.0.1:{port}"\n' for name, port in ports.items()]
    engines = [f'{unit}hosts = ["gpu-a", "gpu-b"]\nengine = "sglang"\n' for unit in units]
    vllm = '[units."sglang-exit0.service"]\nhosts = ["gpu-a"]\nengine = "vllm"\nlisten = "127.0.0.1:30200"\n'
    path.write_text("\n".join([fleet.config_path.read_text(), *engines, vllm]))
    return path


def dflashtui(config: Path, *arguments: str, code: int) -> str:
    """The output of a command on gpu-a that ends with this exit code."""
    argv = (sys.executable, "-m", "dflashtui", "-c", str(config), "--host", "gpu-a", *arguments)
    environment = {**os.environ, "XDG_STATE_HOME": str(config.parent / "state")}
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=100, env=environment)
    assert "Traceback" not in done.stderr
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout


def started(config: Path, unit: str, *options: str, code: int = 2) -> dict[str, Any]:
    """The document of `probe --start`."""
    lines = dflashtui(config, "probe", "--start", "--json", *options, unit, code=code).splitlines()
    (found,) = map(json.loads, lines)
    assert (found["schema"], found["host"], found["unit"]) == (1, "gpu-a", f"{unit}.service")
    document: dict[str, Any] = found
    return document


@fault("C1", how="a service that dies at its imports", result="crashed, with module and place")
def test_a_missing_module_is_named_with_its_place(fleet: TestFleet, config: Path) -> None:
    found = started(config, "sglang-import-error")
    assert (found["verdict"], found["exit_code"], found["signal"]) == ("crashed", 1, None)
    cause = found["cause"]
    assert (cause["kind"], cause["exception"], cause["module"]) == (
        "missing-module",
        "ModuleNotFoundError",
        "soundfile",
    )
    assert cause["message"] == "No module named 'soundfile'"
    assert (cause["location"]["file"], cause["location"]["function"]) == (
        "/opt/fleet/sglang/srt/multimodal/audio.py",
        "<module>",
    )
    assert cause["invocation_id"] == found["invocation_id"]
    assert cause["lines"] is None
    assert any("No module named 'soundfile'" in line for line in found["lines"])


def test_the_text_form_tells_verdict_cause_and_place(fleet: TestFleet, config: Path) -> None:
    text = dflashtui(config, "start", "sglang-import-error", code=2)
    assert text.startswith("gpu-a: sglang-import-error.service: crashed after ")
    assert "ModuleNotFoundError: No module named 'soundfile'  [missing-module]" in text
    assert "/opt/fleet/sglang/srt/multimodal/audio.py:" in text
    verdict, _, cure = text.partition("  do       ")
    assert "crashed after" in verdict
    assert cure.startswith("install soundfile")


def test_no_probe_is_content_with_the_job(fleet: TestFleet, config: Path) -> None:
    text = dflashtui(config, "start", "--no-probe", "counter", "--host", "gpu-a", code=0)
    assert "systemctl start counter.service: done" in text


def test_a_service_that_answers_is_ready_and_the_second_start_is_compared_with_the_first(
    fleet: TestFleet, config: Path
) -> None:
    first = started(config, "sglang-ok", code=0)
    assert (first["verdict"], first["cause"], first["usual_s"]) == ("ready", None, None)
    names = [phase["name"] for phase in first["phases"]]
    after_http = ["http", "warm-up", "ready"]  # log and answer race
    assert names[names.index("http") :] == after_http[: len(names) - names.index("http")]
    fleet.stop("gpu-a", "sglang-ok.service")
    second = started(config, "sglang-ok", code=0)
    assert second["usual_s"] == pytest.approx(first["elapsed_ms"] / 1000, abs=0.01)
    assert {phase["name"] for phase in second["phases"] if phase["usual_s"] is not None} >= {"weights", "graphs"}


@fault("C2", how="a service that dies late", result="crashed, with the cause")
def test_a_late_import_is_found_after_the_model_was_loaded(fleet: TestFleet, config: Path) -> None:
    found = started(config, "sglang-late-import")
    assert found["verdict"] == "crashed"
    assert (found["cause"]["kind"], found["cause"]["exception"]) == ("import-error", "ImportError")
    assert "cannot import name 'StructuralTag' from 'xgrammar'" in found["cause"]["message"]
    assert found["phase"] == "finishing"


def test_a_cuda_fault_is_told_as_the_gpu_wrote_it(fleet: TestFleet, config: Path) -> None:
    found = started(config, "sglang-cuda")
    assert (found["verdict"], found["cause"]["kind"]) == ("crashed", "cuda-error")
    assert found["cause"]["message"].startswith("CUDA error: an illegal memory access was encountered")


@fault("F6", how="a child says why, the parent is killed", result="the cause is the child's")
def test_the_sigkill_of_the_parent_is_explained_by_its_child(fleet: TestFleet, config: Path) -> None:
    found = started(config, "sglang-child")
    assert (found["verdict"], found["exit_code"], found["signal"]) == ("crashed", None, "KILL")
    assert found["cause"]["exception"] == "RuntimeError"
    assert found["cause"]["message"].startswith("Not enough memory. Please try to increase --mem-fraction-static")
    assert found["cause"]["location"]["function"] == "init_memory_pool"


@fault("C2", how="status 0 of a server", result="a crash, with its cause")
def test_an_end_with_status_0_after_the_engine_died_is_a_crash(fleet: TestFleet, config: Path) -> None:
    found = started(config, "sglang-exit0")
    assert (found["verdict"], found["exit_code"]) == ("crashed", 0)
    assert found["cause"]["exception"] == "RuntimeError"


@fault("F7", how="the deadline while loading", result="loading, with signs of life; nothing is stopped")
def test_active_and_never_ready_is_loading_with_signs_of_life(fleet: TestFleet, config: Path) -> None:
    found = started(config, "sglang-never", "--timeout", "4", code=1)
    assert (found["verdict"], found["phase"], found["cause"]) == ("loading", "weights", None)
    assert found["signs_of_life"]["last_line_at"] is not None
    assert fleet.show("gpu-a", "sglang-never.service")["ActiveState"] == "active"


@fault("F2", how="another server on the port", result="not ready")
def test_another_server_on_the_port_makes_nobody_ready(fleet: TestFleet, config: Path) -> None:
    fleet.start("gpu-a", "sglang-ok.service")
    found = started(config, "sglang-late-port")
    assert (found["verdict"], found["cause"]["kind"]) == ("crashed", "port-in-use")


def test_the_other_servers_answer_is_told_for_what_it_is(fleet: TestFleet, config: Path) -> None:
    fleet.start("gpu-a", "sglang-ok.service")
    fleet.hosts["gpu-a"].write_file("/etc/fleet/sglang-late-port.env", b"STEP_SECONDS=5\n")
    try:
        dflashtui(config, "probe", "sglang-ok", code=0)
        found = started(config, "sglang-late-port", "--timeout", "4", code=1)
    finally:
        fleet.hosts["gpu-a"].restore_file("/etc/fleet/sglang-late-port.env", None)
    assert found["verdict"] == "loading"
    assert "of sglang-ok.service" in found["message"]


@fault("F5", how="a traceback, then it goes on", result="no crash")
def test_a_traceback_after_which_it_goes_on_is_no_crash(fleet: TestFleet, config: Path) -> None:
    found = started(config, "sglang-recovers", code=0)
    assert (found["verdict"], found["cause"]) == ("ready", None)


@fault("C3", how="Restart=always", result="crash-looping at the first restart")
def test_a_loop_is_seen_at_its_first_restart(fleet: TestFleet, config: Path) -> None:
    found = started(config, "sglang-loop")
    assert (found["verdict"], found["cause"]["module"]) == ("crash-looping", "soundfile")


def test_a_unit_that_failed_before_is_explained_from_its_journal(fleet: TestFleet, config: Path) -> None:
    fleet.start("gpu-a", "sglang-import-error.service")
    (found,) = map(json.loads, dflashtui(config, "probe", "--json", "sglang-import-error", code=2).splitlines())
    assert (found["verdict"], found["cause"]["module"]) == ("crashed", "soundfile")


@fault("D12", how="journald stands still until the process is gone", result="its lines and its cause are found")
def test_lines_that_journald_took_in_after_the_process_was_gone_belong_to_its_run(
    fleet: TestFleet, config: Path
) -> None:
    fleet.check("gpu-a", "pkill", "-STOP", "systemd-journal")
    try:
        fleet.exec("gpu-a", "timeout", "20", "systemctl", "start", "sglang-import-error.service")
        while fleet.show("gpu-a", "sglang-import-error.service")["ActiveState"] != "failed":
            pass
    finally:
        fleet.check("gpu-a", "pkill", "-CONT", "systemd-journal")
    fleet.check("gpu-a", "journalctl", "--sync")
    run = fleet.show("gpu-a", "sglang-import-error.service")["InvocationID"]
    own = fleet.journal("gpu-a", "sglang-import-error.service", f"_SYSTEMD_INVOCATION_ID={run}")
    assert own == []
    (found,) = map(json.loads, dflashtui(config, "probe", "--json", "sglang-import-error", code=2).splitlines())
    assert (found["cause"]["module"], found["cause"]["invocation_id"]) == ("soundfile", run)


def test_a_stopped_unit_is_stopped(fleet: TestFleet, config: Path) -> None:
    fleet.start("gpu-a", "sglang-ok.service")
    fleet.stop("gpu-a", "sglang-ok.service")
    (found,) = map(json.loads, dflashtui(config, "probe", "--json", "sglang-ok", code=2).splitlines())
    assert (found["verdict"], found["cause"]) == ("stopped", None)


def test_a_unit_that_is_not_there_cannot_be_started(fleet: TestFleet, config: Path) -> None:
    found = started(config, "no-such-unit")
    assert found["verdict"] == "failed-to-start"
    assert "not found" in found["message"]


@pytest.mark.parametrize(
    ("setting", "verdict", "words"),
    [
        ("ExecStart=/bin/false", "crashed", "status 1"),
        ("ExecStart=/no/such/program", "failed-to-start", "203"),
        ("WorkingDirectory=/no/such/folder\nExecStart=/bin/true", "failed-to-start", "200"),
        ("User=nobody-at-all\nExecStart=/bin/true", "failed-to-start", "217"),
        ("Type=notify\nTimeoutStartSec=1\nExecStart=/usr/bin/sleep 60", "failed-to-start", "timeout"),
        ("ExecStart=/bin/sh -c 'kill -SEGV $$$$'", "crashed", "signal 11"),
    ],
)
@fault("C6", how="settings that systemd cannot apply", result="each told in words")
@fault("C4", how="Type=notify, never ready", result="failed-to-start: timeout")
def test_systemds_own_failures_are_told_apart(
    fleet: TestFleet, config: Path, setting: str, verdict: str, words: str
) -> None:
    fleet.write_file("gpu-a", "/etc/systemd/system/sglang-try.service", f"[Service]\n{setting}\n".encode())
    fleet.check("gpu-a", "systemctl", "daemon-reload")
    found = started(config, "sglang-try")
    assert found["verdict"] == verdict, json.dumps(found)
    assert words in found["message"]
    assert found["cause"] is not None


@fault("C9", how="a condition that is not met", result="told, and not as running")
def test_a_condition_that_is_not_met_is_no_running_service(fleet: TestFleet, config: Path) -> None:
    unit = b"[Unit]\nConditionPathExists=/nope\n[Service]\nExecStart=/usr/bin/sleep 60\n"
    fleet.write_file("gpu-a", "/etc/systemd/system/sglang-try.service", unit)
    fleet.check("gpu-a", "systemctl", "daemon-reload")
    found = started(config, "sglang-try")
    assert found["verdict"] == "failed-to-start"
    assert "ConditionPathExists=/nope" in found["message"]


class Watching:
    """A probe inside this process, on a connected fleet."""

    def __init__(self, real: RealFleet, unit: str, limit_seconds: float) -> None:
        self.updates: list[ProbeUpdate] = []
        self._real = real
        self._unit = unit
        wanted = Wanted(host="gpu-a", unit=unit, engine="sglang", limit_seconds=limit_seconds)
        self._probe = Probe(real, wanted, self.updates.append, Evidence(None), will_start=True)
        self._asked: asyncio.Future[ActionResult] = asyncio.get_running_loop().create_future()
        self.task = asyncio.create_task(self._probe.run(self._asked))

    async def start(self) -> None:
        action = UnitAction(verb=Verb.START, host="gpu-a", unit=self._unit)
        self._asked.set_result(await self._real.perform(action))

    async def until(self, condition: Any) -> None:  # noqa: ANN401 - a question about the updates
        while not any(map(condition, self.updates)):  # noqa: ASYNC110 - the test's own limit ends it
            await asyncio.sleep(0.01)

    async def result(self) -> ProbeResult:
        return await self.task


@asynccontextmanager
async def watching(config: Path, unit: str, limit_seconds: float = 60) -> AsyncIterator[Watching]:
    inventory = load(config)
    only = inventory.model_copy(update={"hosts": tuple(host for host in inventory.hosts if host.name == "gpu-a")})
    async with RealFleet(only, opener()) as real, real.subscribe() as changes:
        async for change in changes:
            if change.snapshot.units is not None:
                break
        watched = Watching(real, unit, limit_seconds)
        try:
            yield watched
        finally:
            watched.task.cancel()
            await asyncio.gather(watched.task, return_exceptions=True)


async def test_the_childs_traceback_is_suspected_while_the_parent_still_lives(fleet: TestFleet, config: Path) -> None:
    async with watching(config, "sglang-child.service") as probe:
        await probe.start()
        await probe.until(lambda update: update.suspected and update.suspected.exception == "RuntimeError")
        assert fleet.show("gpu-a", "sglang-child.service")["ActiveState"] == "active"
        result = await probe.result()
    assert (result.verdict, result.signal) == (Verdict.CRASHED, "KILL")


@fault("F8", how="the link is lost while watching", result="no second start; the same run gets its verdict")
async def test_a_lost_link_starts_nothing_again_and_the_same_run_gets_its_verdict(
    fleet: TestFleet, config: Path
) -> None:
    async with watching(config, "sglang-child.service") as probe:
        await probe.start()
        await probe.until(lambda update: update.phase and update.phase.phase.name == "weights")
        run = fleet.show("gpu-a", "sglang-child.service")["InvocationID"]
        fleet.cut("gpu-a")
        await probe.until(lambda update: update.witness == "link")
        assert not probe.task.done()
        fleet.join("gpu-a")
        result = await probe.result()
    assert (result.verdict, result.invocation_id) == (Verdict.CRASHED, run)
    assert result.cause is not None
    assert result.cause.exception == "RuntimeError"
    starts = fleet.journal(
        "gpu-a", "sglang-child.service", "MESSAGE_ID=39f53479d3a045ac8e11786248231fbf", f"INVOCATION_ID={run}"
    )
    assert len(starts) == 1


async def test_somebody_elses_restart_overtakes_the_watched_start(fleet: TestFleet, config: Path) -> None:
    async with watching(config, "sglang-never.service") as probe:
        await probe.start()
        await probe.until(lambda update: update.phase is not None)
        fleet.check("gpu-a", "systemctl", "restart", "sglang-never.service")
        result = await probe.result()
        now = fleet.show("gpu-a", "sglang-never.service")["InvocationID"]
    assert (result.verdict, result.superseded_by) == (Verdict.STOPPED, now)


async def test_somebody_elses_stop_is_no_crash(fleet: TestFleet, config: Path) -> None:
    async with watching(config, "sglang-never.service") as probe:
        await probe.start()
        await probe.until(lambda update: update.phase is not None)
        fleet.stop("gpu-a", "sglang-never.service")
        result = await probe.result()
    assert (result.verdict, result.cause) == (Verdict.STOPPED, None)
    assert LinkState.UP.value not in result.words
