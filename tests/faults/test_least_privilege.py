"""A plain user on real hosts, with the rules of docs/least-privilege and without them."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from dflashtui.cli import main
from dflashtui.exit_code import ExitCode
from tests.faults.marks import fault
from tests.faults.reach import reach
from tests.fleet.test_push import STATE
from tests.support.pty_screen import PtyScreen

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.fleet.harness.fleet import TestFleet

pytestmark = pytest.mark.timeout(180)
RULES = Path(__file__).parents[2] / "docs/least-privilege"
HOST = "gpu-a"
UNIT = "sglang-ok.service"
PUSHED = "sglang-pushed.service"
PATH = f"/etc/systemd/system/{PUSHED}"
TEXT = "[Service]\nExecStart=/bin/sleep 1000\n"
MOVING = {"at", "latency_ms", "since", "error", "main_pid", "invocation_id", "started_at", "cpu_usage_nsec"}


class Plain:
    """The command line as a login without rights, in the groups of the page."""

    def __init__(self, fleet: TestFleet, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self._fleet = fleet
        self._folder = folder
        self._capsys = capsys

    def config(self, user: str = "ops", become: str = "none") -> Path:
        """An inventory with that login."""
        path = self._folder / f"{user}-{become}.toml"
        text = self._fleet.config_path.read_text().replace('user = "root"', f'user = "{user}"\nbecome = "{become}"')
        (self._folder / PUSHED).write_text(TEXT)
        path.write_text(f'{text}\n[units."{PUSHED}"]\nhosts = ["{HOST}"]\nfile = "{PUSHED}"\n')
        return path

    def run(self, *arguments: str, user: str = "ops", become: str = "none") -> tuple[int, str]:
        """The exit code, and all that was said."""
        self._capsys.readouterr()
        code = main(["-c", str(self.config(user, become)), "--host", HOST, *arguments])
        return code, "".join(self._capsys.readouterr())

    def join(self, **groups: str) -> None:
        """Make groups with `ops` in them, or put it into those that are there."""
        lines = self._fleet.read_file(HOST, "/etc/group").decode().splitlines()
        known = {line.split(":")[0] for line in lines}
        more = [f"{name}:x:{number}:ops" for name, number in groups.items() if name not in known]
        joined = [
            f"{line}{'' if line.endswith(':') else ','}ops" if line.split(":")[0] in groups else line for line in lines
        ]
        self._fleet.write_file(HOST, "/etc/group", "\n".join([*joined, *more]) + "\n")


def _with_ops(line: str) -> str:
    return f"{line}{'' if line.endswith(':') else ','}ops"


@pytest.fixture
def plain(
    fleet: TestFleet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Plain]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    login = Plain(fleet, tmp_path, capsys)
    login.join(**{"systemd-journal": "", "inference": "2001"})
    yield login
    fleet.exec(HOST, "systemctl", "stop", UNIT, PUSHED)
    fleet.exec(HOST, "sh", "-c", f"rm -rf {PATH} {STATE}; systemctl daemon-reload")


def lasting(found: Any) -> Any:  # noqa: ANN401 - JSON
    """Without what changes from look to look."""
    if isinstance(found, dict):
        return {key: lasting(value) for key, value in found.items() if key not in MOVING}
    return [lasting(one) for one in found] if isinstance(found, list) else found


def install_polkit_rule(fleet: TestFleet) -> None:
    fleet.write_file(HOST, "/etc/polkit-1/rules.d/50-dflashtui.rules", (RULES / "50-dflashtui.rules").read_text())


def test_a_plain_user_sees_everything(fleet: TestFleet, plain: Plain, tmp_path: Path) -> None:
    fleet.start(HOST, UNIT)
    fleet.put_on_gpu(HOST, 3, UNIT, 64 * 2**30)
    _, by_user = plain.run("--check", "--json")
    _, by_root = plain.run("--check", "--json", user="root")
    assert lasting(json.loads(by_user)) == lasting(json.loads(by_root))
    assert UNIT in json.dumps(json.loads(by_user)["hosts"][0]["gpus"][3])
    environment = {**os.environ, "TERM": "xterm-256color", "XDG_STATE_HOME": str(tmp_path), "LC_ALL": "C.UTF-8"}
    config = tmp_path / "one.toml"
    text = plain.config().read_text().partition("\n[units.")[0]
    config.write_text(re.sub(r"^units = .*$", f'units = ["{UNIT}"]', text, flags=re.MULTILINE))
    argv = (sys.executable, "-m", "dflashtui", "-c", str(config), "--host", HOST)
    with PtyScreen(argv, columns=160, rows=45, environment=environment) as screen:
        screen.wait(lambda text: "hosts 1/1 up" in text and "not read" not in text)
        screen.press("4")
        screen.sees("64/140 GiB", "sglang-ok")
        screen.press("5")
        screen.sees("Capture cuda graph end", "Started")
        assert "may not read" not in screen.text


@fault(
    "B17",
    how="a plain user without and with the polkit rule of docs/least-privilege",
    result="the right is named; then it works",
)
def test_the_polkit_rule_is_what_it_takes_to_operate(fleet: TestFleet, plain: Plain) -> None:
    code, said = plain.run("start", UNIT)
    assert code == ExitCode.FAILED
    assert f'manage-units with unit "{UNIT}" and verb "start"' in said
    install_polkit_rule(fleet)
    with reach(fleet, HOST, "ops") as seen:
        assert plain.run("start", UNIT)[0] == ExitCode.OK
        for verb in ("restart", "reset-failed", "kill", "stop"):
            code, said = plain.run(verb, "--yes", *(("--no-probe",) if verb == "restart" else ()), UNIT)
            assert code == ExitCode.OK, (verb, said)
        for verb, unit, right in (
            ("start", "counter.service", 'with unit "counter.service"'),
            ("enable", UNIT, "manage-unit-files"),
        ):
            code, said = plain.run(verb, unit)
            assert code == ExitCode.FAILED
            assert right in said
    assert [one for one in seen.commands if "sudo" in one] == []
    assert fleet.show(HOST, "counter.service")["ActiveState"] == "inactive"


@fault(
    "B16",
    how="a push by a plain user: without sudo, without the rule, with the rule of docs/least-privilege",
    result="each step says what is missing; then it is pushed; sudo runs as sudo -n only",
)
def test_the_sudo_rule_is_what_it_takes_to_push(fleet: TestFleet, plain: Plain) -> None:
    code, said = plain.run("push", "--yes", PUSHED)
    assert code == ExitCode.FAILED
    assert 'set user = "root" or become = "sudo"' in said
    with reach(fleet, HOST, "ops") as seen:
        code, said = plain.run("push", "--yes", PUSHED, become="sudo")
        assert code in {ExitCode.FAILED, ExitCode.UNKNOWN}
        assert "USER ALL=(root) NOPASSWD: /usr/bin/python3" in said
        plain.join(**{"inference-push": "2002"})
        fleet.write_file(HOST, "/etc/sudoers.d/dflashtui", (RULES / "dflashtui.sudoers").read_text(), mode=0o440)
        fleet.check(HOST, "visudo", "-c", "-f", "/etc/sudoers.d/dflashtui")
        code, said = plain.run("push", "--yes", PUSHED, become="sudo")
        assert code == ExitCode.OK, said
        assert fleet.check(HOST, "stat", "-c", "%U:%G %a", PATH) == b"root:root 644\n"
        code, said = plain.run("rollback", "--yes", PUSHED, become="sudo")
        assert code == ExitCode.OK, said
    asked = [one for one in seen.commands if "sudo" in one]
    assert asked
    assert [one for one in asked if not re.search(r"sudo\W+-n\b", one)] == []
    assert not fleet.hosts[HOST].find_file(PATH)
