"""Commands on a host: refused beforehand, streamed, audited."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

import pytest

from dflashtui.model.command import HostCommand
from dflashtui.ops.audit import Audit
from dflashtui.ops.commands import run_command
from tests.unit.crash_fakes import HOST, Script

if TYPE_CHECKING:
    from pathlib import Path

    from dflashtui.model.command import CommandResult

COMMAND = HostCommand(host="gpu-a", unit="x.service", argv=("pip", "install", "a b"), title="install")


async def run(
    script: Script, folder: Path, command: HostCommand = COMMAND, *, read_only: bool = False
) -> tuple[CommandResult, list[str]]:
    said: list[str] = []
    result = await run_command(command, script.fleet, Audit(folder), said.append, read_only=read_only)
    return result, said


def audited(folder: Path) -> list[dict[str, object]]:
    file = folder / "audit.jsonl"
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


async def test_output_is_streamed_and_the_command_audited(tmp_path: Path) -> None:
    script = Script()
    script.says = ("one", "HF_TOKEN=hf_secretsecret")
    result, said = await run(script, tmp_path)
    assert said == ["one", "HF_TOKEN=***"]
    assert (result.ok, result.result, result.exit_status) == (True, "done", 0)
    assert script.commanded == [("sh", "-c", 'exec "$@" 2>&1', "sh", "pip", "install", "a b")]
    (line,) = audited(tmp_path)
    assert (line["host"], line["unit"], line["action"]) == ("gpu-a", "x.service", "command")
    assert (line["command"], line["result"], line["ok"]) == ("pip install 'a b'", "done", True)


async def test_a_failure_is_a_result(tmp_path: Path) -> None:
    script = Script()
    script.ends_with = 3
    result, _ = await run(script, tmp_path)
    assert (result.ok, result.result) == (False, "exit 3")
    assert audited(tmp_path)[0]["ok"] is False


async def test_secrets_do_not_reach_the_audit(tmp_path: Path) -> None:
    command = COMMAND.model_copy(update={"argv": ("x", "--api-key", "canary")})
    await run(Script(), tmp_path, command)
    assert "canary" not in (tmp_path / "audit.jsonl").read_text()


@pytest.mark.parametrize("read_only", [True, False])
async def test_nothing_is_sent_where_nothing_may_be_changed(tmp_path: Path, *, read_only: bool) -> None:
    script = Script(HOST.model_copy(update={"read_only": not read_only, "group": "prod"}))
    result, said = await run(script, tmp_path, read_only=read_only)
    assert (result.ok, result.result) == (False, "refused")
    assert (script.commanded, said, audited(tmp_path)) == ([], [], [])


async def test_nothing_is_sent_that_cannot_be_audited(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    script = Script()
    result, _ = await run(script, tmp_path / "file")
    assert result.result == "refused"
    assert script.commanded == []


async def test_an_end_before_its_time_is_audited_as_unknown(tmp_path: Path) -> None:
    script = Script()
    reached = asyncio.Event()

    def told(_: str) -> None:
        reached.set()
        raise asyncio.CancelledError

    script.says = ("one",)
    with pytest.raises(asyncio.CancelledError):
        await run_command(COMMAND, script.fleet, Audit(tmp_path), told, read_only=False)
    assert reached.is_set()
    (line,) = audited(tmp_path)
    assert (line["result"], line["ok"]) == ("cancelled", None)
