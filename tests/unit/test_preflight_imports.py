"""The check of the imports without a host: its findings, their levels, and the help of a reference host."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from dflashtui.config.model import Config, Host, Unit
from dflashtui.ops.preflight_imports import check
from dflashtui.ops.preflight_question import Question
from dflashtui.ops.preflight_reference import reference_environment
from dflashtui.transport.local import LocalTransport

if TYPE_CHECKING:
    from pathlib import Path

    from dflashtui.model.preflight import PreflightFinding

UNIT = Unit(name="x.service", hosts=("here",), python=sys.executable, reference="there")
HOSTS = (Host(name="here", transport="local"), Host(name="there", transport="local"))


def question(folder: Path, *argv: str, unit: Unit = UNIT) -> Question:
    return Question(
        config=Config(hosts=HOSTS, units=(unit,)),
        unit=unit,
        host=HOSTS[0],
        transport=LocalTransport("here"),
        unit_text="",
        argv=argv,
        interpreter=sys.executable,
        user=None,
        environment={"PYTHONPATH": str(folder), "XDG_CACHE_HOME": str(folder / "cache")},
        working_directory=str(folder),
    )


async def found(folder: Path, *argv: str) -> list[PreflightFinding]:
    return list(await check(question(folder, *argv, unit=UNIT.model_copy(update={"reference": None}))))


async def test_levels_follow_how_sure_and_how_wanted_an_import_is(tmp_path: Path) -> None:
    info = tmp_path / "app-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: app\nVersion: 1\nRequires-Dist: soundfile==0.13.1\n\n")
    (tmp_path / "queue.py").touch()
    (tmp_path / "new.py").write_text("def f(:\n")
    (tmp_path / "app.py").write_text(
        "import new, zmq, nobody_knows_this\nfrom json import dumps, dump_all\n"
        "def later():\n    import soundfile, odd_one\nif later:\n    import under_if\n"
    )
    told = await found(tmp_path, sys.executable, "-m", "app")
    levels = {one.id: one.level for one in told}
    assert levels == {
        "imports:syntax:new": "fatal",
        "imports:missing-module:zmq": "fatal",
        "imports:missing-module:nobody_knows_this": "fatal",
        "imports:missing-name:json:dump_all": "fatal",
        "imports:missing-module:soundfile": "warning",
        "imports:shadow:queue": "warning",
        "imports:conditional": "note",
        "imports:late": "note",
    }
    by_id = {one.id: one for one in told}
    command = by_id["imports:missing-module:zmq"].command
    assert command is not None
    assert (command[0], command[-1]) == (sys.executable, "pyzmq"), "and not what nobody vouches for"
    assert by_id["imports:missing-module:nobody_knows_this"].command is None
    assert by_id["imports:missing-module:soundfile"].remedy == "install soundfile==0.13.1"
    assert by_id["imports:missing-module:soundfile"].message == (
        "No module named 'soundfile': __main__ imports it, inside a function"
    )


async def test_what_cannot_be_started_or_looked_at_is_told(tmp_path: Path) -> None:
    (missing,) = await found(tmp_path, sys.executable, "-m", "nowhere")
    assert (missing.id, missing.level) == ("imports:entry", "fatal")
    (tmp_path / "run").write_text("#!/bin/sh\ntrue\n")
    (shell,) = await found(tmp_path, sys.executable, str(tmp_path / "run"))
    assert (shell.id, shell.level) == ("imports:entry", "unknown")
    (code,) = await found(tmp_path, sys.executable, "-c", "import x")
    assert code.level == "unknown"


async def test_the_reference_host_is_asked_in_passing(tmp_path: Path) -> None:
    there = await reference_environment(question(tmp_path))
    assert there is not None
    assert (there.host, there.version("pydantic") is None) == ("there", False)
    for other in ("here", "nowhere", None):
        alone = question(tmp_path, unit=UNIT.model_copy(update={"reference": other}))
        assert await reference_environment(alone) is None
