"""The survey as it is shipped: a process of the unit's interpreter, with the unit's folder and environment."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING

import pytest

from dflashtui.ops.survey import NOT_RUN, Survey, Where, survey
from dflashtui.transport.local import LocalTransport

if TYPE_CHECKING:
    from pathlib import Path

HOSTILE = "raise SystemExit('a module of the unit was imported by the survey')\n"


def imports(target: Path) -> dict[str, dict[str, object]]:
    return {"imports": {"entry": {"kind": "script", "target": str(target)}, "keeps": False}}


def where(folder: Path, directory: str | None = None) -> Where:
    return Where(python=sys.executable, environment={"PYTHONPATH": str(folder), "KEY": "ä\n'\""}, directory=directory)


async def surveyed(folder: Path, **times: float) -> Survey:
    (folder / "app.py").write_text("import found_by_path, gone\n")
    (folder / "found_by_path.py").touch()
    return await survey(LocalTransport("here"), where(folder, str(folder)), imports(folder / "app.py"), **times)


def missing(found: Survey) -> list[object]:
    return [fact["module"] for fact in found.of("imports") if fact["kind"] == "fault"]


async def test_modules_of_the_unit_do_not_reach_the_survey(tmp_path: Path) -> None:
    for name in ("json", "ast", "signal", "re", "typing", "warnings", "pkgutil", "importlib_", "dflashtui"):
        (tmp_path / f"{name}.py").write_text(HOSTILE)
    found = await surveyed(tmp_path)
    assert (missing(found), found.problem, found.shortfall("imports")) == (["gone"], None, None)
    shadows = {fact["module"] for fact in found.of("imports") if fact["kind"] == "shadow"}
    assert shadows == {"json", "ast", "signal", "re", "typing", "warnings", "pkgutil"}


async def test_what_start_up_files_print_is_no_answer(tmp_path: Path) -> None:
    (tmp_path / "usercustomize.py").write_text("print('hello')\nprint('{\"a\": 1}')\nprint('[1]')\n")
    (tmp_path / "sitecustomize.py").write_text("print('\\x1b[31m')\n")
    found = await surveyed(tmp_path)
    assert (missing(found), set(found.facts)) == (["gone"], {"imports"})


async def test_a_folder_that_is_gone_is_told_and_the_survey_goes_on(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text("import gone\n")
    gone = where(tmp_path, str(tmp_path / "nowhere"))
    found = await survey(LocalTransport("here"), gone, imports(tmp_path / "app.py"))
    assert found.of("place") == ({"directory": str(tmp_path / "nowhere"), "problem": "No such file or directory"},)
    assert missing(found) == ["gone"]


async def test_an_interpreter_that_hangs_is_left_in_time(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("import time\ntime.sleep(60)\n")
    began = time.monotonic()
    found = await surveyed(tmp_path, limit_seconds=0.2, grace_seconds=0.8)
    assert time.monotonic() - began < 10
    assert found.problem == f"{sys.executable} gave no answer within 1 s"
    assert found.shortfall("imports") == found.problem


async def test_a_task_that_fails_stops_no_other(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text("import gone\n")
    tasks = {"imports": {"entry": None}, "nothing": {}}
    found = await survey(LocalTransport("here"), where(tmp_path), tasks)
    assert found.shortfall("imports") == "TypeError: 'NoneType' object is not subscriptable"
    assert found.shortfall("nothing") == "this survey knows no such task"
    assert found.shortfall("machine") == NOT_RUN


@pytest.mark.parametrize(("python", "status"), [("/bin/true", None), ("/bin/false", "exit 1: no message")])
async def test_what_is_no_python_is_told(python: str, status: str | None, tmp_path: Path) -> None:
    found = await survey(LocalTransport("here"), Where(python=python), imports(tmp_path))
    assert (found.facts, found.problem) == ({}, status)
    assert found.shortfall("imports") == (status or NOT_RUN)
