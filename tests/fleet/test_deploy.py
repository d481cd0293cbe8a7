"""Deployments on real hosts: to ready, back again, to another host, and what is left of one that is cut off."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.faults.marks import fault
from tests.support.pty_screen import PtyScreen
from tests.support.until import until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.fleet.harness.fleet import TestFleet

HOSTS = ("gpu-a", "gpu-b")
UNIT = "sglang-deployed.service"
PATH = f"/etc/systemd/system/{UNIT}"
PORT = 30411
DEFINED = """
[units."{unit}"]
hosts = {hosts}
template = "python"
engine = "sglang"
python = "/usr/bin/python3"
listen = "127.0.0.1:{port}"
extra_args = ["-u", "{script}"]
environment = {{ PORT = "{port}", STEP_SECONDS = "0.02" }}
"""


class Console:
    """`dflashtui` on the fleet's hosts, with a unit of its own in the inventory."""

    def __init__(self, fleet: TestFleet, folder: Path) -> None:
        self._folder = folder
        self._hosts = fleet.config_path.read_text()
        self.state = folder / "state"
        self.define()

    def define(self, script: str = "/opt/fleet/engine.py", hosts: tuple[str, ...] = HOSTS) -> None:
        defined = DEFINED.format(unit=UNIT, hosts=json.dumps(hosts), port=PORT, script=script)
        (self._folder / "hosts.toml").write_text(self._hosts + defined)

    def begun(self, *arguments: str) -> subprocess.Popen[str]:
        argv = (sys.executable, "-m", "dflashtui", "-c", str(self._folder / "hosts.toml"), "deploy", UNIT, *arguments)
        environment = {**os.environ, "XDG_STATE_HOME": str(self.state)}
        return subprocess.Popen(
            argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, stdin=subprocess.DEVNULL
        )

    def deploy(self, *arguments: str, code: int) -> dict[str, dict[str, Any]]:
        """The documents by host."""
        process = self.begun("--json", "--yes", "--no-preflight", *arguments)
        output, errors = process.communicate(timeout=100)
        assert process.returncode == code, output + errors
        assert "Traceback" not in errors
        return {document["host"]: document for document in map(json.loads, output.splitlines())}


@pytest.fixture
def console(fleet: TestFleet, tmp_path: Path) -> Iterator[Console]:
    _clear(fleet)
    yield Console(fleet, tmp_path)
    _clear(fleet)


def _clear(fleet: TestFleet) -> None:
    for host in HOSTS:
        fleet.exec(host, "systemctl", "kill", "--signal=KILL", "--", UNIT)
        fleet.exec(host, "systemctl", "stop", "--", UNIT, "dflashtui-undo-*")
        fleet.exec(host, "rm", "-rf", "--", PATH, "/var/lib/dflashtui")
        fleet.exec(host, "systemctl", "daemon-reload")
        fleet.exec(host, "systemctl", "reset-failed", "--", UNIT)


def states(document: dict[str, Any]) -> dict[str, str]:
    return {step["name"]: step["state"] for step in document["steps"]}


def is_active(fleet: TestFleet, host: str) -> bool:
    return fleet.exec(host, "systemctl", "is-active", UNIT).stdout.strip() == b"active"


@fault("E10", how="the first of two hosts fails", result="put back; the second is not begun; exit 2")
def test_a_failed_deployment_is_put_back_and_goes_to_no_other_host(fleet: TestFleet, console: Console) -> None:
    first = console.deploy(code=0)
    assert {host: document["outcome"] for host, document in first.items()} == dict.fromkeys(HOSTS, "ready")
    good = fleet.check("gpu-a", "cat", PATH)
    again = console.deploy(code=0)
    assert states(again["gpu-a"]) == {"preflight": "skipped", "push": "skipped", "restart": "skipped", "probe": "done"}

    console.define(script="/opt/fleet/gone.py")
    failed = console.deploy("--rollback", code=2)
    assert (failed["gpu-a"]["outcome"], failed["gpu-b"]["outcome"]) == ("put-back", "skipped")
    assert states(failed["gpu-a"])["probe"] == "failed"
    assert "gone.py" in failed["gpu-a"]["probe"]["cause"]["message"]
    assert states(failed["gpu-a"])["probe again"] == "done"
    assert fleet.check("gpu-a", "cat", PATH) == good == fleet.check("gpu-b", "cat", PATH)
    assert is_active(fleet, "gpu-a")
    assert b"dflashtui-undo" not in fleet.check("gpu-a", "systemctl", "list-timers", "--all")

    (newest,) = sorted((console.state / "dflashtui/deploys").iterdir())[-1:]
    kept = json.loads(newest.read_text())
    assert [(host["host"], host["outcome"]) for host in kept["hosts"]] == [("gpu-a", "put-back"), ("gpu-b", "skipped")]
    audit = (console.state / "dflashtui/audit.jsonl").read_text()
    assert audit.count('"action": "rollback"') == 1


def test_a_first_deployment_that_fails_leaves_no_unit(fleet: TestFleet, console: Console) -> None:
    console.define(script="/opt/fleet/gone.py", hosts=("gpu-a",))
    document = console.deploy("--rollback", code=2)["gpu-a"]
    assert document["outcome"] == "put-back"
    assert fleet.exec("gpu-a", "test", "-e", PATH).returncode != 0
    assert not is_active(fleet, "gpu-a")


def test_a_unit_moves_to_another_host_and_the_old_one_is_stopped_last(fleet: TestFleet, console: Console) -> None:
    console.define(hosts=("gpu-a",))
    console.deploy(code=0)
    rows = console.deploy("--host", "gpu-b", "--stop-old", code=0)
    assert (rows["gpu-b"]["outcome"], rows["gpu-a"]["outcome"]) == ("ready", "stopped")
    assert is_active(fleet, "gpu-b")
    assert not is_active(fleet, "gpu-a")


@fault("E8", how="kill -9 of the console during the probe", result="the host's own timer puts back the old text")
async def test_what_a_dead_console_left_is_undone_by_the_host(fleet: TestFleet, console: Console) -> None:
    console.define(hosts=("gpu-a",))
    console.deploy(code=0)
    good = fleet.check("gpu-a", "cat", PATH)
    console.define(script="/opt/fleet/dying.py", hosts=("gpu-a",))
    fleet.write_file("gpu-a", "/opt/fleet/dying.py", "import time; time.sleep(600)\n")
    begun = console.begun("--yes", "--no-preflight", "--rollback")
    await until(lambda: b"dying.py" in fleet.exec("gpu-a", "systemctl", "show", "-p", "ExecStart", UNIT).stdout)
    await until(lambda: is_active(fleet, "gpu-a"))
    begun.kill()
    begun.communicate()
    timers = fleet.check("gpu-a", "systemctl", "list-units", "--plain", "--no-legend", "dflashtui-undo-*.timer")
    undo = timers.split()[0].decode().removesuffix(".timer")
    fleet.check("gpu-a", "systemctl", "start", f"{undo}.service")  # in place of the hour that it waits for
    await until(lambda: fleet.check("gpu-a", "cat", PATH) == good)
    await until(lambda: b"engine.py" in fleet.exec("gpu-a", "systemctl", "show", "-p", "ExecStart", UNIT).stdout)


@fault("E9", how="Ctrl-C during a probe", result="130; each host's state is told; the next is not begun")
async def test_ctrl_c_says_how_each_host_was_left(fleet: TestFleet, console: Console) -> None:
    fleet.write_file("gpu-a", "/opt/fleet/dying.py", "import time; time.sleep(600)\n")
    console.define(script="/opt/fleet/dying.py")
    begun = console.begun("--json", "--yes", "--no-preflight")
    await until(lambda: is_active(fleet, "gpu-a"))
    begun.send_signal(signal.SIGINT)
    output, errors = begun.communicate(timeout=60)
    assert begun.returncode == 130, errors
    left = {document["host"]: document for document in map(json.loads, output.splitlines())}
    assert (left["gpu-a"]["outcome"], left["gpu-b"]["outcome"]) == ("interrupted", "skipped")
    assert states(left["gpu-b"])["push"] == "skipped"
    assert fleet.exec("gpu-b", "test", "-e", PATH).returncode != 0


def test_edit_difference_deploy_verdict_in_four_keys(fleet: TestFleet, console: Console, tmp_path: Path) -> None:
    console.define(hosts=("gpu-a",))
    console.deploy(code=0)
    inventory = tmp_path / "hosts.toml"
    editor = "sed -i 's/^template = /description = \"told anew\"\\n&/'"
    own = {name: value for name, value in os.environ.items() if name not in {"COLUMNS", "LINES", "VISUAL"}}
    environment = {**own, "TERM": "xterm-256color", "EDITOR": editor, "XDG_STATE_HOME": str(console.state)}
    argv = (sys.executable, "-m", "dflashtui", "-c", str(inventory), "--host", "gpu-a")
    with PtyScreen(argv, columns=140, rows=44, environment=environment) as screen:
        screen.sees("hosts 1/1 up")
        screen.press("3")
        screen.sees("› ●  gpu-a   sglang-deployed", "GET /")
        screen.press("e")
        screen.sees("+Description=told anew", "is not as rendered")
        screen.press("A")
        screen.sees("deploy sglang-deployed on gpu-a", "Cancel")
        screen.press("tab", "enter")
        screen.sees("● probe", "ready: GET /health 200", "u undo")
        screen.press("u")
        screen.sees("rollback sglang-deployed on gpu-a", "-Description=told anew")
        screen.press("tab", "enter")
        screen.wait(lambda text: "put back" in text and "escape closes" in text)
        screen.press("escape")
        screen.wait(lambda text: "put back" not in text)
        screen.press("ctrl+q")
        assert screen.wait_for_end() == 0
    assert b"told anew" not in fleet.check("gpu-a", "cat", PATH)
    audit = (console.state / "dflashtui/audit.jsonl").read_text()
    assert [audit.count(f'"action": "{name}"') for name in ("push", "restart", "rollback")] == [2, 2, 1]
