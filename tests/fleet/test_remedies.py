"""Remedies on real hosts: what they say, and that the service is ready once they were applied."""

from __future__ import annotations

import asyncio
import json
import sys
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

from dflashtui.cli.fleets import opener
from dflashtui.config.read import load
from dflashtui.exit_code import ExitCode
from dflashtui.fleet.fleet import RealFleet
from dflashtui.model.action import UnitAction, Verb
from dflashtui.model.command import HostCommand
from dflashtui.model.host import LinkState
from dflashtui.model.probe import Verdict
from dflashtui.ops.audit import Audit
from dflashtui.ops.commands import run_command
from dflashtui.ops.evidence import Evidence
from dflashtui.ops.failed_runs import FailedRuns
from dflashtui.ops.post_mortem import post_mortem
from dflashtui.ops.probe import Probe
from dflashtui.ops.probe_wanted import wanted_of
from dflashtui.ops.remedy import remedies_on
from tests.fleet import remedy_files as files
from tests.support.pty_screen import PtyScreen

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

    from dflashtui.config.model import Config
    from dflashtui.model.probe import ProbeResult
    from dflashtui.ops.post_mortem import Found
    from dflashtui.ops.remedy_value import HostRemedy
    from tests.fleet.harness.fleet import TestFleet

pytestmark = pytest.mark.timeout(180)
HOST = "gpu-a"
UNIT = files.UNIT


@pytest.fixture
def config(fleet: TestFleet, tmp_path: Path) -> Iterator[Config]:
    files.lay_out(fleet, HOST)
    path = tmp_path / "hosts.toml"
    path.write_text(
        fleet.config_path.read_text()
        + f'\n[units."{UNIT}"]\nhosts = ["{HOST}"]\nengine = "sglang"\nlisten = "127.0.0.1:{files.PORT}"\n'
        + 'reference = "gpu-b"\n'
    )
    yield load(path)
    files.clear(fleet, HOST)


@asynccontextmanager
async def running(config: Config) -> AsyncIterator[RealFleet]:
    only = config.model_copy(update={"hosts": tuple(host for host in config.hosts if host.name != "gpu-c")})
    async with RealFleet(only, opener()) as real, real.subscribe() as changes:
        async for _ in changes:
            snapshots = [real.snapshot(name) for name in real.names]
            if all(one.link.state is LinkState.UP and one.units is not None for one in snapshots):
                break
        yield real


async def start(real: RealFleet, config: Config) -> ProbeResult:
    """Start and probe."""
    asked = asyncio.get_running_loop().create_future()
    probe = Probe(real, wanted_of(config, HOST, UNIT, 60.0), lambda _: None, Evidence(None), will_start=True)
    async with asyncio.TaskGroup() as group:
        watching = group.create_task(probe.run(asked))
        asked.set_result(await real.perform(UnitAction(verb=Verb.RESTART, host=HOST, unit=UNIT)))
    return watching.result()


async def read(real: RealFleet, config: Config) -> tuple[Found, tuple[HostRemedy, ...]]:
    found = await post_mortem(real, config, FailedRuns(None), HOST, UNIT)
    assert found.run.cause is not None
    return found, await remedies_on(real, config, HOST, UNIT, found.run.cause, found.xids)


async def apply(real: RealFleet, remedy: HostRemedy, folder: Path) -> list[str]:
    said: list[str] = []
    command = HostCommand(host=HOST, unit=UNIT, argv=remedy.argv or (), title=remedy.title)
    result = await run_command(command, real, Audit(folder), said.append, read_only=False)
    assert result.ok, said
    return said


async def from_the_command_line(config: Config) -> dict[str, Any]:
    argv = (sys.executable, "-m", "dflashtui", "-c", str(config.path), "probe", "--json", UNIT)
    asked = await asyncio.create_subprocess_exec(*argv, stdout=asyncio.subprocess.PIPE)
    output, _ = await asked.communicate()
    assert asked.returncode == ExitCode.FAILED
    document: dict[str, Any] = json.loads(output)
    return document


async def test_the_story_each_cause_is_cured_by_its_remedy(fleet: TestFleet, config: Config, tmp_path: Path) -> None:
    async with running(config) as real:
        first = await start(real, config)
        assert (first.verdict, first.cause and first.cause.kind) == (Verdict.CRASHED, "missing-module")
        found, (install, *_) = await read(real, config)
        assert found.run.invocation_id == first.invocation_id
        assert found.run.cause is not None
        assert found.run.cause.module == "soundfile"
        assert install.argv == (files.PYTHON, "-m", "pip", "install", "soundfile==0.13.1")
        assert "sglang 0.5.11 asks for soundfile==0.13.1" in install.details
        assert (await from_the_command_line(config))["remedies"][0] == {
            "title": install.title,
            "command": install.command,
            "details": list(install.details),
        }
        said = await apply(real, install, tmp_path)
        assert "Successfully installed soundfile-0.13.1" in said

        second = await start(real, config)
        assert (second.verdict, second.cause and second.cause.kind) == (Verdict.CRASHED, "import-error")
        _, (replace, around, *_) = await read(real, config)
        assert replace.argv == (files.PYTHON, "-m", "pip", "install", "xgrammar==0.1.32")
        assert replace.title == "install xgrammar 0.1.32 in place of 0.1.10"
        assert around.title == "or start it with --grammar-backend none"
        assert "costs nothing" in around.details[0]
        await apply(real, replace, tmp_path)

        third = await start(real, config)
        assert third.verdict is Verdict.READY
    audit = (tmp_path / "audit.jsonl").read_text()
    assert audit.count('"action": "command"') == 2
    assert "pip install soundfile==0.13.1" in audit


async def test_a_port_that_somebody_else_holds(fleet: TestFleet, config: Config) -> None:
    text = f"[Service]\nExecStart=/usr/bin/python3 -m http.server {files.PORT} --bind 127.0.0.1\n"
    fleet.write_file(HOST, "/etc/systemd/system/sglang-squatter.service", text)
    fleet.check(HOST, files.PYTHON, "-m", "pip", "install", "soundfile", "xgrammar==0.1.32")
    fleet.check(HOST, "systemctl", "daemon-reload")
    fleet.start(HOST, "sglang-squatter.service")
    listening = ("ss", "-Hltn", "sport", "=", f":{files.PORT}")
    async with asyncio.timeout(20):
        while not fleet.exec(HOST, *listening).stdout.strip():  # noqa: ASYNC110 - a process of another machine
            await asyncio.sleep(0.05)
    async with running(config) as real:
        result = await start(real, config)
        assert (result.verdict, result.cause and result.cause.kind) == (Verdict.CRASHED, "port-in-use")
        _, (stop, *_) = await read(real, config)
    assert stop.argv == ("systemctl", "stop", "sglang-squatter.service")
    fleet.stop(HOST, "sglang-squatter.service")


async def test_an_xid_of_the_same_half_minute_is_a_neighbour(fleet: TestFleet, config: Config) -> None:
    async with running(config) as real:
        await start(real, config)
        fleet.log_kernel(HOST, "NVRM: Xid (PCI:0000:01:00): 79, pid=7, name=python, GPU has fallen off the bus.")
        fleet.exec(HOST, "journalctl", "--sync")
        found, _ = await read(real, config)
    assert any(words.startswith("Xid 79") for words in found.run.neighbours)


def test_the_card_of_a_failure_of_before_is_cured_from_the_console(
    fleet: TestFleet, config: Config, tmp_path: Path
) -> None:
    """Push, start, crash, `x`, `F`: what the product is for."""
    import os  # noqa: PLC0415
    import sys  # noqa: PLC0415

    fleet.check(HOST, files.PYTHON, "-m", "pip", "install", "--no-deps", "xgrammar==0.1.32")
    fleet.exec(HOST, "systemctl", "start", UNIT)
    environment = {**os.environ, "TERM": "xterm-256color", "XDG_STATE_HOME": str(tmp_path), "LC_ALL": "C.UTF-8"}
    environment.pop("NO_COLOR", None)
    argv = (sys.executable, "-m", "dflashtui", "-c", str(config.path), "--host", HOST)
    with PtyScreen(argv, columns=140, rows=45, environment=environment) as screen:
        screen.sees("hosts 1/1 up")
        screen.press("2")
        screen.sees("sglang-remedy")
        screen.press("/")
        screen.sees("filter")
        screen.press("remedy", "enter")
        screen.wait(lambda text: "x why" in text)
        screen.press("x")
        screen.sees("a Python module is missing", "install soundfile 0.13.1", "F fix and restart")
        screen.press("F")
        screen.sees("Cancel", "systemctl restart sglang-remedy.service")
        screen.press("tab", "enter")
        screen.wait(lambda text: "● ready" in text)
        screen.press("ctrl+q")
        assert screen.wait_for_end() == 0
    assert fleet.show(HOST, UNIT)["ActiveState"] == "active"
