"""Real interpreters and environments of other makes: old, new, free-threaded; made by uv, with and without it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from dflashtui.ops.compare import compare
from dflashtui.ops.environment import read_environment
from dflashtui.ops.installing import install_argv, obstacle, uninstall_argv
from dflashtui.ops.survey import Where, survey
from dflashtui.transport.local import LocalTransport
from tests.fleet.remedy_files import wheel
from tests.support import import_truth
from tests.support.site_files import distribution, write
from tests.unit.test_import_sweep import CASES, laid_out

if TYPE_CHECKING:
    from dflashtui.model.environment import Environment

HERE = LocalTransport("here")
PYENV = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
KINDS = ("3.8", "3.12", "3.13", "3.14", "3.13t", "3.14t")
TELLS = "import sys, sysconfig; print(sys.version_info[:2], sysconfig.get_config_var('Py_GIL_DISABLED') or 0)"


def found(kind: str) -> str | None:
    """An interpreter of that kind on this machine; DFLASHTUI_TEST_PYTHONS names more of them, by `:`."""
    version = kind.rstrip("t")
    named = os.environ.get("DFLASHTUI_TEST_PYTHONS", "").split(":")
    known = [*named, shutil.which(f"python{kind}"), *map(str, sorted(PYENV.glob(f"{version}*/bin/python")))]
    wanted = f"({version.replace('.', ', ')}) {int(kind.endswith('t'))}\n"
    return next((one for one in known if one and _says(one) == wanted), None)


def _says(python: str) -> str:
    try:
        return subprocess.run((python, "-I", "-c", TELLS), capture_output=True, text=True, check=False).stdout
    except OSError:
        return ""


@pytest.mark.parametrize("kind", KINDS)
async def test_another_interpreter_answers_for_itself(kind: str, tmp_path: Path) -> None:
    """Its sweep meets what its own imports meet; its environment is told with its own kind."""
    python = found(kind)
    if python is None:
        pytest.skip(f"no Python {kind} on this machine; DFLASHTUI_TEST_PYTHONS may name one")
    for name in ("guards", "star imports with and without __all__", "functions that run at import"):
        laid_out(tmp_path / name, CASES[name])
        (tmp_path / name / "begin.py").write_text("import app\n")
        where = Where(python=python, environment={"PYTHONPATH": str(tmp_path / name)}, directory=str(tmp_path))
        order = {"entry": {"kind": "script", "target": str(tmp_path / name / "begin.py")}, "keeps": False}
        told = await survey(HERE, where, {"imports": order})
        assert told.shortfall("imports") is None
        certain = [one for one in told.of("imports") if one["kind"] == "fault" and one["status"] == "certain"]
        argv = (python, "-I", import_truth.__file__, "import begin", str(tmp_path / name))
        truth = [json.loads(line)[:3] for line in (await HERE.run(argv)).stdout.splitlines()]
        assert truth
        assert [[one["fault"], one["module"], one["name"] or ""] for one in certain] == truth
    environment = await read_environment(HERE, Where(python=python))
    assert environment.interpreter.version.startswith(kind.rstrip("t"))
    assert environment.interpreter.is_free_threaded is kind.endswith("t")
    assert environment.shortfalls == ()


STAND_IN = """import sys, sysconfig
sysconfig.get_config_vars()["Py_GIL_DISABLED"] = 1
sys.abiflags = "t"
"""


async def test_a_free_threaded_build_is_told_apart(tmp_path: Path) -> None:
    """A stand-in where no such build is at hand: an interpreter that says so of itself."""
    (tmp_path / "sitecustomize.py").write_text(STAND_IN)
    usual = await read_environment(HERE, Where(python=sys.executable))
    other = await read_environment(HERE, Where(python=sys.executable, environment={"PYTHONPATH": str(tmp_path)}))
    assert (usual.interpreter.is_free_threaded, other.interpreter.is_free_threaded) == (False, True)
    (row,) = (
        row
        for row in compare((usual.model_copy(update={"host": "a"}), other.model_copy(update={"host": "b"}))).rows
        if row.name == "python"
    )
    assert (row.differs, "free-threaded" in str(row.on("b"))) == (True, True)


UV = Path(sysconfig.get_path("scripts")) / "uv"


@pytest.fixture
def made_by_uv(tmp_path: Path) -> Path:
    argv = (str(UV), "venv", "--quiet", "--no-config", "--offline", "--python", sys.executable, str(tmp_path / "venv"))
    subprocess.run(argv, check=True)
    (tmp_path / "wheels").mkdir()
    for version in ("1.0", "2.0"):
        data = wheel("kernels", version, f"VERSION = '{version}'\n")
        (tmp_path / f"wheels/kernels-{version}-py3-none-any.whl").write_bytes(data)
    return tmp_path / "venv"


async def read(venv: Path, path: str) -> Environment:
    places = {"PATH": path, "HOME": str(venv)}
    return await read_environment(HERE, Where(python=str(venv / "bin/python"), environment=places))


async def test_an_environment_of_uv_is_changed_by_uv(made_by_uv: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No pip in it: the command that is built for it installs into this environment, and nowhere else."""
    monkeypatch.setenv("UV_NO_INDEX", "1")
    monkeypatch.setenv("UV_FIND_LINKS", str(made_by_uv.parent / "wheels"))
    monkeypatch.setenv("UV_CACHE_DIR", str(made_by_uv.parent / "cache"))
    one = await read(made_by_uv, f"{UV.parent}:/usr/bin:/bin")
    interpreter, login = one.interpreter, str(one.interpreter.owner)
    assert (interpreter.has_pip, interpreter.uv, obstacle(interpreter, login)) == (False, str(UV), None)
    look = install_argv(interpreter, login, ["kernels==1.0"], ("--dry-run", "--no-deps"))
    install = install_argv(interpreter, login, ["kernels==1.0"], ("--no-deps",))
    refused = install_argv(interpreter, login, ["kernels==9.9"], ("--dry-run", "--no-deps"))
    remove = uninstall_argv(interpreter, login, ["kernels"])
    assert None not in {look, install, refused, remove}
    assert (await HERE.run(look or ())).exit_status == 0
    assert (await HERE.run(refused or ())).exit_status == 1
    assert (await read(made_by_uv, str(UV.parent))).version("kernels") is None
    assert (await HERE.run(install or ())).exit_status == 0
    told = (await read(made_by_uv, str(UV.parent))).by_name["kernels"]
    assert (told.version, told.installer, told.has_record) == ("1.0", "uv", True)
    assert (await HERE.run(remove or ())).exit_status == 0
    assert (await read(made_by_uv, str(UV.parent))).version("kernels") is None


async def test_where_uv_is_not_on_the_host_it_is_said_what_to_do(made_by_uv: Path) -> None:
    one = await read(made_by_uv, "/nowhere")
    login = str(one.interpreter.owner)
    assert one.interpreter.uv is None
    assert install_argv(one.interpreter, login, ["kernels==1.0"]) is None
    assert obstacle(one.interpreter, login) == (
        f"neither pip nor uv is there: put uv on the host, or run {made_by_uv}/bin/python -m ensurepip first"
    )
    write(Path(one.interpreter.purelib), distribution("pip", "1", {"pip/__init__.py": ""}))
    assert obstacle((await read(made_by_uv, "/nowhere")).interpreter, login) is None
    (made_by_uv / "bin/uv").symlink_to(UV)
    assert (await read(made_by_uv, "/nowhere")).interpreter.uv == f"{made_by_uv}/bin/uv"
