"""Environments on real hosts: judged as their own interpreter and loader do, compared, made alike, put back."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

from dflashtui.cli.fleets import opener
from dflashtui.config.model import Unit
from dflashtui.config.read import load
from dflashtui.ops import preflight_binaries, preflight_requirements
from dflashtui.ops.preflight_question import Question
from tests.faults.marks import fault
from tests.fleet import environments
from tests.fleet.environments import PYTHON, SITE
from tests.fleet.remedy_files import wheel
from tests.support.shared_objects import built, named
from tests.support.site_files import as_tar, distribution, site, torch

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

    from tests.fleet.harness.fleet import TestFleet
    from tests.support.site_files import Files

pytestmark = pytest.mark.timeout(240)
ENGINE = distribution("sglang", "0.5.11", requires=["torch==2.11.0", "soundfile==0.13.1", "xgrammar==0.1.32"])
WHO = f"import os; os.close(os.open('{environments.FOLDER}/who', os.O_CREAT | os.O_WRONLY))\n"
CONTENTS = (
    f"cd {SITE} && find . -path ./pip -prune -o -name __pycache__ -prune -o -type f -print0 "
    "| sort -z | xargs -0 sha256sum"
)
GOOD = site(
    ENGINE, torch("2.11.0+cu130", "13.0"), distribution("soundfile", "0.13.1"), distribution("xgrammar", "0.1.32")
)
OTHER = site(
    ENGINE, torch("2.9.1+cu128", "12.8"), distribution("xgrammar", "0.1.10"), distribution("torchvision", "0.26.0")
)


@pytest.fixture
def inventory(fleet: TestFleet, tmp_path: Path) -> Iterator[Path]:
    yield environments.inventory(fleet, tmp_path / "hosts.toml")
    environments.clear(fleet, "gpu-a", "gpu-b")


@asynccontextmanager
async def question(path: Path, host: str, **more: Any) -> AsyncIterator[Question]:  # noqa: ANN401 - of several kinds
    config = load(path)
    entry = config.host(host)
    async with opener()(entry, lambda _: None) as transport:
        unit = config.unit("sglang-env.service")
        assert isinstance(unit, Unit)
        yield Question(
            config=config,
            unit=unit.model_copy(update=more.pop("of_unit", {})),
            host=entry,
            transport=transport,
            unit_text="",
            argv=(PYTHON, "-m", "sglang.launch_server"),
            interpreter=more.pop("interpreter", PYTHON),
            user=more.pop("user", None),
            environment=more.pop("environment", {}),
        )


def run(path: Path, tmp_path: Path, *words: str) -> tuple[int, str, str]:
    environment = {**os.environ, "XDG_STATE_HOME": str(tmp_path / "state")}
    argv = (sys.executable, "-m", "dflashtui", *words, "-c", str(path))
    done = subprocess.run(argv, capture_output=True, text=True, env=environment, check=False)
    return done.returncode, done.stdout, done.stderr


async def test_requirements_are_judged_by_the_units_own_interpreter(fleet: TestFleet, inventory: Path) -> None:
    environments.lay_out(
        fleet, "gpu-a", site(GOOD, distribution("odd", "1", requires=["never; sys_platform == 'win32'"]))
    )
    async with question(inventory, "gpu-a") as one:
        assert await preflight_requirements.check(one) == ()
    environments.lay_out(fleet, "gpu-b", OTHER)
    fleet.check("gpu-b", "chown", "-R", "ops", environments.FOLDER)
    fleet.check("gpu-b", "mkdir", "-p", f"{SITE}/pip")
    fleet.check("gpu-b", "touch", f"{SITE}/pip/__init__.py")
    async with question(inventory, "gpu-b", user="ops") as one:
        found = {finding.id: finding for finding in await preflight_requirements.check(one)}
    assert {name: finding.level for name, finding in found.items()} == {
        "requirements:version:torch": "fatal",
        "requirements:missing:soundfile": "warning",
        "requirements:version:xgrammar": "warning",
    }
    command = found["requirements:missing:soundfile"].command
    assert command == ("runuser", "-u", "ops", "--", PYTHON, "-m", "pip", "install", "soundfile==0.13.1")


TORCH_SYMBOLS = "void _ZN3c106detail3newEv(void){}"
USER = "void _ZN3c106detail3oldEv(void); void _ZN3c106detail3newEv(void); void f(void){_ZN3c106detail3oldEv();}"


def compiled(folder: Path) -> Files:
    """Kernels for another torch and another CUDA, built here for the same C library as on the hosts."""
    cudart = named(folder, "libcudart.so.12")
    libc10 = named(folder, "libc10.so", f"void _ZN3c106detail3oldEv(void){{}} {TORCH_SYMBOLS}")
    kernels = built(folder / "common_ops.so", USER, str(cudart), str(libc10), "-Wl,-rpath,$ORIGIN/../torch/lib")
    ours = named(folder / "ours", "libc10.so", TORCH_SYMBOLS)
    return distribution("sgl-kernel", "9.9", {"sgl_kernel/common_ops.so": kernels.read_bytes()}) | {
        "torch/lib/libc10.so": ours.read_bytes()
    }


async def test_binaries_are_judged_as_the_loader_judges_them(fleet: TestFleet, inventory: Path, tmp_path: Path) -> None:
    environments.lay_out(fleet, "gpu-a", site(GOOD, compiled(tmp_path / "build")))
    async with question(inventory, "gpu-a") as one:
        found = {finding.id: finding for finding in await preflight_binaries.check(one)}
    assert {name: finding.level for name, finding in found.items()} == {
        "binaries:generation:sgl-kernel": "fatal",
        "binaries:symbols:sgl-kernel": "fatal",
        "binaries:libraries:sgl-kernel": "fatal",
    }
    fleet.check("gpu-a", "mkdir", "-m", "700", f"{SITE}/closed")
    async with question(inventory, "gpu-a", user="ops") as one:
        (closed,) = (finding for finding in await preflight_binaries.check(one) if finding.level == "unknown")
    assert closed.message == f"not all was read: {SITE}/closed: Permission denied"
    path = f"{SITE}/sgl_kernel/common_ops.so"
    assert "undefined symbol: _ZN3c106detail3oldEv" in found["binaries:symbols:sgl-kernel"].evidence
    program = "import ctypes, sys; ctypes.CDLL(sys.argv[1], ctypes.RTLD_GLOBAL | 2)"
    refused = fleet.exec("gpu-a", PYTHON, "-c", program, path).stderr.decode()
    assert "libcudart.so.12: cannot open shared object file" in refused
    fleet.check(
        "gpu-a", "tar", "-x", "-C", f"{SITE}/torch/lib", stdin=as_tar({"libcudart.so.12": named_runtime(tmp_path)})
    )
    refused = fleet.exec("gpu-a", PYTHON, "-c", program, path).stderr.decode()
    assert "undefined symbol: _ZN3c106detail3oldEv" in refused


def named_runtime(folder: Path) -> bytes:
    return named(folder / "runtime", "libcudart.so.12").read_bytes()


async def test_driver_and_gpus_are_judged_on_the_host_itself(fleet: TestFleet, inventory: Path) -> None:
    environments.lay_out(fleet, "gpu-a", torch("2.6.0+cu124", "12.4"))
    fleet.set_gpu("gpu-a", 1, compute_capability_major=12, name="NVIDIA RTX PRO 6000 Blackwell")
    async with question(inventory, "gpu-a") as one:
        assert [finding.id for finding in await preflight_binaries.check(one)] == ["binaries:capability:torch"]
    async with question(inventory, "gpu-a", of_unit={"gpus": (0,)}) as one:
        assert await preflight_binaries.check(one) == ()
    environments.lay_out(fleet, "gpu-a", GOOD)
    fleet.set_driver("gpu-a", driver_version="570.86.15", cuda_version=12080)
    async with question(inventory, "gpu-a") as one:
        (old,) = await preflight_binaries.check(one)
    assert (old.id, old.level) == ("binaries:driver:old", "fatal")
    assert "the driver runs CUDA up to 12.8" in old.evidence


@pytest.mark.parametrize("interpreter", ["/opt/environments/none/bin/python", "/bin/true", "/etc/hostname", None])
@fault("F11", how="an interpreter that is none", result="said")
async def test_an_interpreter_that_is_none_is_said(fleet: TestFleet, inventory: Path, interpreter: str | None) -> None:
    async with question(inventory, "gpu-a", interpreter=interpreter) as one:
        for check in (preflight_requirements.check, preflight_binaries.check):
            (finding,) = await check(one)
            assert finding.level == "unknown"


def test_compare_says_what_differs_and_what_of_it_is_fatal(fleet: TestFleet, inventory: Path, tmp_path: Path) -> None:
    environments.lay_out(fleet, "gpu-a", GOOD)
    environments.lay_out(fleet, "gpu-b", GOOD)
    assert run(inventory, tmp_path, "compare", "gpu-a", "gpu-b")[0] == 0
    environments.lay_out(fleet, "gpu-b", site(OTHER, {"who.pth": WHO.encode()}))
    fleet.check("gpu-b", "chown", "-R", "ops", environments.FOLDER)
    status, told, _ = run(inventory, tmp_path, "compare", "gpu-a", "gpu-b", "--json")
    found = json.loads(told)
    assert (status, found["verdict"]) == (2, "fatal")
    assert fleet.check("gpu-b", "stat", "-c", "%U", f"{environments.FOLDER}/who") == b"ops\n"  # never root
    names = [row["name"] for row in found["differences"]]
    assert names == ["torch", "cuda", "torchvision", "xgrammar", "soundfile"]
    assert [remark["host"] for remark in found["differences"][0]["fatal"]] == ["gpu-b"]
    assert run(inventory, tmp_path, "compare", "gpu-a", "gpu-c", "--python", PYTHON)[0] == 3
    fleet.check("gpu-b", "sh", "-c", f"echo patched >> {SITE}/sglang/__init__.py")
    status, told, _ = run(inventory, tmp_path, "compare", "gpu-a", "gpu-b", "--files", "sglang")
    assert status == 1
    assert "patched" in told


def test_packages_are_made_like_those_of_another_host_and_put_back(
    fleet: TestFleet, inventory: Path, tmp_path: Path
) -> None:
    """One is installed by the host's own pip, one is patched and goes over as files; both come back."""
    environments.lay_out(fleet, "gpu-a", GOOD)
    environments.lay_out(
        fleet, "gpu-b", OTHER, wheels={"xgrammar-0.1.32-py3-none-any.whl": wheel("xgrammar", "0.1.32", "# 0.1.32\n")}
    )
    fleet.check(
        "gpu-a", "sh", "-c", f"echo '# patched' >> {SITE}/sglang/__init__.py; echo '# new' > {SITE}/sglang/new.py"
    )
    before = fleet.check("gpu-b", "sh", "-c", CONTENTS)
    words = ("sync", "gpu-a", "gpu-b", "sglang", "xgrammar", "soundfile")
    status, told, said = run(inventory, tmp_path, *words, "--json", "--yes")
    assert status == 0, said
    ways = {step["package"]: (step["way"], step["why"].partition(":")[0]) for step in json.loads(told)["steps"]}
    assert ways == {
        "sglang": ("copy", "2 files are patched there"),
        "xgrammar": ("install", "an index has it"),
        "soundfile": ("copy", "no index there has it"),
    }
    assert "Successfully installed xgrammar-0.1.32" in said
    program = "import sglang.new, xgrammar, soundfile; print(open(sglang.__file__).read())"
    assert b"patched" in fleet.check("gpu-b", PYTHON, "-B", "-c", program)
    status, _, said = run(inventory, tmp_path, "sync", "gpu-b", "--undo")
    assert (status, "needs a confirmation" in said) == (2, True)
    status, _, said = run(inventory, tmp_path, "sync", "gpu-b", "--undo", "--yes")
    assert status == 0, said
    assert fleet.check("gpu-b", "sh", "-c", CONTENTS).splitlines() == before.splitlines()
    audit = (tmp_path / "state/dflashtui/audit.jsonl").read_text()
    assert "'sglang from gpu-a' 'soundfile from gpu-a'" in audit
    assert f"{PYTHON} -m pip install --no-deps xgrammar==0.1.32" in audit
