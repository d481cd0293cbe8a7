"""`dflashtui --check` on real hosts: what it says, and its exit code."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest

if TYPE_CHECKING:
    from tests.fleet.harness.fleet import TestFleet

SCHEMA = Path(__file__).parents[2] / "docs" / "check.schema.json"

pytestmark = pytest.mark.timeout(120)


def check(config: Path, *options: str) -> tuple[int, str]:
    argv = (sys.executable, "-m", "dflashtui", "--check", "-c", str(config), *options)
    done = subprocess.run(argv, capture_output=True, text=True, check=False, timeout=100)
    assert "Traceback" not in done.stderr
    return done.returncode, done.stdout


def document(config: Path, *options: str) -> tuple[int, dict[str, Any]]:
    code, text = check(config, "--json", *options)
    found: dict[str, Any] = json.loads(text)
    jsonschema.validate(found, json.loads(SCHEMA.read_text()), format_checker=jsonschema.FormatChecker())
    return code, found


def unit(found: dict[str, Any], host: str, name: str) -> dict[str, Any]:
    units = next(one["units"] for one in found["hosts"] if one["name"] == host)
    wanted: dict[str, Any] = next(one for one in units if one["name"] == name)
    return wanted


def test_all_well_is_0(fleet: TestFleet) -> None:
    fleet.exec("gpu-a", "systemctl", "reset-failed")
    fleet.start("gpu-a", "counter.service")
    code, text = check(fleet.config_path, "--host", "gpu-a", "--unit", "counter*")
    assert (code, text) == (0, "ok    1 of 1 hosts up · 1 units · 8 GPUs\n")


def test_a_failed_unit_is_2_and_told_with_its_result(fleet: TestFleet) -> None:
    fleet.exec("gpu-b", "systemctl", "start", "sglang-import-error.service")
    code, found = document(fleet.config_path, "--host", "gpu-b")
    assert (code, found["verdict"]) == (2, "failed")
    failed = unit(found, "gpu-b", "sglang-import-error.service")
    assert (failed["active_state"], failed["result"], failed["exec_main_status"]) == ("failed", "exit-code", 1)
    assert len(failed["invocation_id"]) == 32
    assert [finding["unit"] for finding in found["findings"]] == ["sglang-import-error.service"]


def test_a_loop_is_2(fleet: TestFleet) -> None:
    fleet.start("gpu-c", "sglang-loop.service")
    while int(fleet.show("gpu-c", "sglang-loop.service")["NRestarts"]) < 1:
        time.sleep(0.05)
    code, text = check(fleet.config_path, "--host", "gpu-c", "--unit", "sglang-loop")
    assert code == 2
    assert "sglang-loop.service" in text


def test_a_host_that_is_cut_off_is_3_and_the_others_are_answered(fleet: TestFleet) -> None:
    fleet.cut("gpu-c")
    code, found = document(fleet.config_path, "--unit", "counter*", "--timeout", "15")
    assert code == 3
    assert {host["name"]: host["state"] for host in found["hosts"]} == {
        "gpu-a": "up",
        "gpu-b": "up",
        "gpu-c": "unreachable",
    }
    assert next(host for host in found["hosts"] if host["name"] == "gpu-c")["gpus"] is None


def test_an_unknown_host_key_is_3_and_gives_the_line_to_add(fleet: TestFleet, tmp_path: Path) -> None:
    config = tmp_path / "hosts.toml"
    empty = tmp_path / "known_hosts"
    empty.touch()
    config.write_text(fleet.config_path.read_text().replace(str(fleet.known_hosts), str(empty)))
    code, found = document(config, "--host", "gpu-a")
    assert code == 3
    assert found["hosts"][0]["state"] == "hostkey-unknown"
    assert "SHA256:" in found["hosts"][0]["error"]


def test_gpus_processes_and_a_lost_gpu(fleet: TestFleet) -> None:
    fleet.start("gpu-a", "counter.service")
    fleet.put_on_gpu("gpu-a", 2, "counter.service", 54 * 2**30)
    fleet.set_gpu("gpu-a", 5, lost=True)
    code, found = document(fleet.config_path, "--host", "gpu-a", "--unit", "counter*")
    gpus = found["hosts"][0]["gpus"]
    assert code == 2
    assert gpus[2]["processes"][0]["unit"] == "counter.service"
    assert gpus[2]["processes"][0]["memory_used_bytes"] == 54 * 2**30
    assert gpus[5]["lost"]
    assert gpus[5]["utilization_percent"] is None


def test_ready_is_asked_of_the_service_itself(fleet: TestFleet, tmp_path: Path) -> None:
    config = tmp_path / "hosts.toml"
    config.write_text(
        fleet.config_path.read_text()
        + '\n[units."sglang-ok.service"]\nhosts = ["gpu-a"]\nengine = "sglang"\nlisten = "127.0.0.1:30001"\n'
    )
    fleet.start("gpu-a", "sglang-ok.service")
    seen = set()
    for _ in range(40):
        _, found = document(config, "--host", "gpu-a", "--unit", "sglang-ok")
        seen.add(unit(found, "gpu-a", "sglang-ok.service")["readiness"])
        if "ready" in seen:
            break
    assert "ready" in seen
    assert seen <= {"loading", "ready"}


def test_hostile_text_of_units_stays_text(fleet: TestFleet) -> None:
    _, text = check(fleet.config_path, "--host", "gpu-a", "--unit", "hostile*")
    assert not set(text) & {"\x1b", "\x07", "\x9b", "\u202e"}
    _, found = document(fleet.config_path, "--host", "gpu-a", "--unit", "hostile*")
    assert any("[/x]" in one["description"] for one in found["hosts"][0]["units"])
