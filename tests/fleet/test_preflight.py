"""The preflight on real hosts: a good unit is good, and a bad one shows all that is wrong with it in one pass."""

from __future__ import annotations

import asyncio
import json
import struct
import time
from typing import TYPE_CHECKING

import pytest

from dflashtui.cli import main
from dflashtui.cli.fleets import opener
from dflashtui.config.read import load
from dflashtui.exit_code import ExitCode
from dflashtui.ops.preflight import preflight
from tests.faults.marks import fault

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from dflashtui.config.model import Config
    from dflashtui.model.preflight import Preflight
    from tests.fleet.harness.fleet import TestFleet

HOST = "gpu-a"
MODEL, DRAFT = "/opt/preflight/model", "/opt/preflight/draft"
SERVER = "/opt/preflight/server.py"
GOOD = f"""
[units."ready.service"]
hosts = ["{HOST}"]
template = "python"
engine = "openai"
python = "/usr/bin/python3"
model = "{MODEL}"
gpus = [2]
listen = "127.0.0.1:30777"
extra_args = ["{SERVER}", "--model-path", "{MODEL}"]
"""
BAD = f"""
[units."bad.service"]
hosts = ["{HOST}"]
file = "bad.service"
engine = "sglang"
gpus = [1, 9]
[units."other.service"]
hosts = ["{HOST}"]
gpus = [1]
"""
BAD_TEXT = f"""[Unit]
AssertPathExists=/opt/preflight/nothing
[Service]
Type=exec
Restart=always
RestartSteps
WorkingDirectory=/opt/preflight/nowhere
EnvironmentFile=/opt/preflight/gone.env
Environment=CUDA_VISIBLE_DEVICES=1,3,9 PORT=30001
ExecStart=/opt/preflight/venv/bin/python -m sglang.launch_server --model-path {MODEL} --port $PORT \\
  --speculative-algorithm DFLASH --speculative-draft-model-path {DRAFT}
"""


@pytest.fixture(autouse=True)
def _cleared(fleet: TestFleet) -> Iterator[None]:
    yield
    fleet.check(HOST, "rm", "-rf", "/opt/preflight")


def safetensors(size: int) -> bytes:
    header = json.dumps({"w": {"dtype": "U8", "shape": [size], "data_offsets": [0, size]}}).encode()
    return struct.pack("<Q", len(header)) + header + b"\1" * size


def lay_out_model(fleet: TestFleet, folder: str) -> None:
    names = [f"model-0000{n}-of-00002.safetensors" for n in (1, 2)]
    fleet.write_file(HOST, f"{folder}/config.json", '{"model_type": "qwen3"}')
    fleet.write_file(HOST, f"{folder}/tokenizer.json", "{}")
    index = {"weight_map": dict(zip("ab", names, strict=True))}
    fleet.write_file(HOST, f"{folder}/model.safetensors.index.json", json.dumps(index))
    for name in names:
        fleet.write_file(HOST, f"{folder}/{name}", safetensors(1000))


def inventory(fleet: TestFleet, folder: Path, more: str) -> Path:
    path = folder / "hosts.toml"
    path.write_text(fleet.config_path.read_text() + more)
    return path


def looked(config: Config, unit: str, limit_seconds: float = 30.0) -> Preflight:
    async def look() -> Preflight:
        async with opener()(config.host(HOST), lambda _: None) as transport:
            return await preflight(config, unit, config.host(HOST), transport, limit_seconds=limit_seconds)

    return asyncio.run(look())


def test_nothing_is_wrong_with_a_good_unit(fleet: TestFleet, tmp_path: Path) -> None:
    lay_out_model(fleet, MODEL)
    fleet.write_file(HOST, SERVER, "import json\n")
    found = looked(load(inventory(fleet, tmp_path, GOOD)), "ready.service")
    assert [one for one in found.findings if one.level != "note"] == []
    assert found.verdict == "ok"


def test_everything_that_is_wrong_shows_in_one_pass(
    fleet: TestFleet, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lay_out_model(fleet, MODEL)
    whole = len(safetensors(1000))
    fleet.write_file(HOST, f"{MODEL}/model-00002-of-00002.safetensors", safetensors(1000)[:-100])
    fleet.check(HOST, "mkdir", "-p", "/opt/preflight/venv/bin")
    fleet.check(HOST, "ln", "-sf", "/opt/python9/bin/python9", "/opt/preflight/venv/bin/python")
    fleet.start(HOST, "sglang-ok.service")
    fleet.set_gpu(HOST, 1, lost=True)
    fleet.put_on_gpu(HOST, 3, "sglang-ok.service", 150 << 30)
    (tmp_path / "bad.service").write_text(BAD_TEXT)
    path = inventory(fleet, tmp_path, BAD)
    wait_for_port(fleet, 30001)
    assert main(["-c", str(path), "preflight", "bad", "--json"]) == ExitCode.FAILED
    (document,) = map(json.loads, capsys.readouterr().out.splitlines())
    assert (document["schema"], document["host"], document["unit"]) == (1, HOST, "bad.service")
    assert document["verdict"] == "fatal"
    told = {one["id"]: one for one in document["findings"]}
    assert {id_ for id_, one in told.items() if one["level"] == "fatal"} == {
        "program:missing",
        "program:folder",
        "unit:environment-file:/opt/preflight/gone.env",
        "manager:AssertPathExists:/opt/preflight/nothing",
        "model:model:shards",
        "model:draft:missing",
        "gpus:lost:1",
        "gpus:missing:9",
        "port:30001",
    }
    others = {id_ for id_, one in told.items() if one["level"] == "warning"}
    assert {"unit:ignored", "gpus:held:3", "gpus:pinned:other.service"} <= others
    cut = f"model-00002-of-00002.safetensors: has {whole - 100} of {whole} bytes"
    assert told["model:model:shards"]["evidence"] == [cut]
    assert "sglang-ok.service" in told["port:30001"]["message"]
    assert "sglang-ok.service" in told["gpus:held:3"]["message"]
    assert "/opt/python9/bin/python9" in told["program:missing"]["message"]


def wait_for_port(fleet: TestFleet, port: int) -> None:
    ends = time.monotonic() + 20
    while not fleet.check(HOST, "ss", "-Hltn", "sport", "=", f":{port}"):
        assert time.monotonic() < ends


def test_fix_takes_back_a_mask_and_keeps_a_record(
    fleet: TestFleet, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    lay_out_model(fleet, MODEL)
    fleet.write_file(HOST, SERVER, "import json\n")
    fleet.check(HOST, "systemctl", "mask", "ready.service")
    path = str(inventory(fleet, tmp_path, GOOD))
    assert main(["-c", path, "preflight", "ready", "--fix"]) == ExitCode.FAILED
    assert "refused: this needs a confirmation" in capsys.readouterr().err
    assert fleet.show(HOST, "ready.service")["LoadState"] == "masked"
    assert main(["-c", path, "preflight", "ready", "--fix", "--yes"]) == ExitCode.FAILED
    told = capsys.readouterr()
    assert f"{HOST}: $ systemctl unmask -- ready.service" in told.err
    assert "ready.service is masked: no start is possible" in told.out
    assert "unmask" in (tmp_path / "state/dflashtui/audit.jsonl").read_text()
    assert fleet.show(HOST, "ready.service")["LoadState"] == "not-found"


@fault("F11", how="an interpreter that hangs", result="its checks are unknown, all others are told in time")
def test_an_interpreter_that_hangs_holds_up_nothing_else(fleet: TestFleet, tmp_path: Path) -> None:
    fleet.write_file(HOST, "/opt/preflight/hang/python", "#!/bin/sh\nsleep 60\n", mode=0o755)
    fleet.write_file(HOST, SERVER, "import json\n")
    more = GOOD.replace("/usr/bin/python3", "/opt/preflight/hang/python").replace(MODEL, "/opt/preflight/no-model")
    began = time.monotonic()
    found = looked(load(inventory(fleet, tmp_path, more)), "ready.service", limit_seconds=3.0)
    assert time.monotonic() - began < 10
    assert {one.check for one in found.findings if one.level == "unknown"} >= {"imports", "requirements", "binaries"}
    assert "manager:AssertPathExists:/opt/preflight/no-model" in {one.id for one in found.findings}
