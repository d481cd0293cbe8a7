"""Deployments that are interrupted, that fail twice, that go to hosts of different kinds."""

from __future__ import annotations

import json
import signal
from typing import TYPE_CHECKING

import pytest

from tests.faults.marks import fault
from tests.fleet.test_deploy import HOSTS, PATH, UNIT, Console, console, is_active, states
from tests.support.until import until

if TYPE_CHECKING:
    from tests.fleet.harness.fleet import TestFleet

__all__ = ["console"]
pytestmark = pytest.mark.timeout(120)
ASLEEP = "import time; time.sleep(600)\n"


@fault(
    "E9",
    how="SIGTERM, SIGHUP while the first of two hosts is probed",
    result="130; each host is told of, and the undo that was called off",
)
@pytest.mark.parametrize("number", [signal.SIGTERM, pytest.param(signal.SIGHUP, marks=pytest.mark.long)])
async def test_a_signal_says_how_each_host_was_left(fleet: TestFleet, console: Console, number: signal.Signals) -> None:
    fleet.write_file("gpu-a", "/opt/fleet/dying.py", ASLEEP)
    console.define(script="/opt/fleet/dying.py")
    begun = console.begun("--json", "--yes", "--no-preflight", "--rollback")
    await until(lambda: is_active(fleet, "gpu-a"))
    begun.send_signal(number)
    output, errors = begun.communicate(timeout=60)
    assert begun.returncode == 130, errors
    left = {document["host"]: document for document in map(json.loads, output.splitlines())}
    assert {host: left[host]["outcome"] for host in HOSTS} == {"gpu-a": "interrupted", "gpu-b": "skipped"}
    assert f"dflashtui rollback {UNIT} brings back the old one" in output
    assert b"dflashtui-undo" not in fleet.check("gpu-a", "systemctl", "list-timers", "--all")
    assert fleet.exec("gpu-b", "test", "-e", PATH).returncode != 0


@pytest.mark.long
@fault("E9", how="Ctrl-C twice", result="130 at once; the undo that stays armed on the host is named")
async def test_a_second_ctrl_c_names_the_undo_that_stays_armed(fleet: TestFleet, console: Console) -> None:
    fleet.write_file("gpu-a", "/opt/fleet/dying.py", ASLEEP)
    console.define(script="/opt/fleet/dying.py", hosts=("gpu-a",))
    begun = console.begun("--yes", "--no-preflight", "--rollback")
    await until(lambda: is_active(fleet, "gpu-a"))
    assert begun.stderr is not None
    fleet.cut("gpu-a")  # so that the undo cannot be called off
    begun.send_signal(signal.SIGINT)
    while "again to leave at once" not in begun.stderr.readline():
        pass
    begun.send_signal(signal.SIGINT)
    output, errors = begun.communicate(timeout=20)
    fleet.join("gpu-a")
    assert begun.returncode == 130, errors
    assert "the host undoes it by itself: dflashtui-undo-" in output
    assert b"dflashtui-undo" in fleet.check("gpu-a", "systemctl", "list-timers", "--all")


@pytest.mark.long
@fault("E7", how="old and new text both fail on a real host", result="both causes told; put back once; exit 2")
def test_both_versions_fail(fleet: TestFleet, console: Console) -> None:
    console.define(script="/opt/fleet/gone-old.py", hosts=("gpu-a",))
    console.deploy(code=2)
    console.define(script="/opt/fleet/gone-new.py", hosts=("gpu-a",))
    (document,) = console.deploy("--rollback", code=2).values()
    assert document["outcome"] == "failed"
    told = {step["name"]: " ".join([step["message"], *step["lines"]]) for step in document["steps"]}
    assert "gone-new.py" in told["probe"]
    assert "gone-old.py" in told["probe again"]
    assert states(document)["put back"] == "done"
    assert b"gone-old.py" in fleet.check("gpu-a", "cat", PATH)
    audit = (console.state / "dflashtui/audit.jsonl").read_text()
    assert [audit.count(f'"action": "{action}"') for action in ("push", "rollback")] == [2, 1]
