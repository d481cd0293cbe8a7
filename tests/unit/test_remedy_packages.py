"""Which package to install, for whom and how."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from dflashtui.diagnosis.remedies_names import avoiding, distributions_of
from dflashtui.model.action import Weight
from dflashtui.model.finding import Cause, Location
from dflashtui.ops.remedy_environment import Environment, Installed, Pin, interpreters
from dflashtui.ops.remedy_install import library_of, library_remedies, package_remedies, wanted

if TYPE_CHECKING:
    from dflashtui.ops.remedy_value import HostRemedy

PYTHON = "/root/venv/bin/python"
PROGRAM = Path(__file__).parents[2] / "dflashtui" / "sampler" / "environment.py"
MISSING = Cause(kind="missing-module", message="No module named 'soundfile'", module="soundfile")
NO_NAME = Cause(kind="import-error", message="cannot import name 'StructuralTag' from 'xgrammar'", module="xgrammar")


def environment(**values: object) -> Environment:
    usual: dict[str, object] = {
        "python": "3.12.11",
        "executable": PYTHON,
        "prefix": "/root/venv",
        "is_venv": True,
        "is_externally_managed": False,
        "site": "/root/venv/lib/python3.12/site-packages",
        "is_site_writable": True,
        "site_owner": "root",
        "user": "root",
        "has_pip": True,
        "has_ensurepip": True,
        "distributions": {"sglang": Installed(name="sglang", version="0.5.11")},
    }
    return Environment.model_validate(usual | values)


def pin(requirement: str) -> Pin:
    return Pin(by="sglang", by_version="0.5.11", requirement=requirement)


def installed(**versions: str) -> dict[str, Installed]:
    return {
        name.replace("_", "-"): Installed(name=name.replace("_", "-"), version=version)
        for name, version in versions.items()
    }


def first(cause: Cause, here: Environment, there: Environment | None = None) -> HostRemedy:
    assert cause.module
    return package_remedies(cause, wanted(cause.module, here, there, "ct129" if there else None), here)[0]


def test_a_missing_module_is_installed_in_the_version_that_the_engine_asks_for() -> None:
    here = environment(pins=(pin("soundfile==0.13.1"),))
    remedy = first(MISSING, here, environment(distributions=installed(soundfile="0.13.0")))
    assert remedy.argv == (PYTHON, "-m", "pip", "install", "soundfile==0.13.1")
    assert remedy.command == f"{PYTHON} -m pip install soundfile==0.13.1"
    assert (remedy.weight, remedy.is_cure) == (Weight.NORMAL, True)
    assert remedy.details[:3] == (
        "soundfile is not installed",
        "sglang 0.5.11 asks for soundfile==0.13.1",
        "ct129 has 0.13.0",
    )


def test_without_a_pin_the_reference_host_tells_the_version() -> None:
    remedy = first(MISSING, environment(), environment(distributions=installed(soundfile="0.13.0")))
    assert remedy.argv is not None
    assert remedy.argv[-1] == "soundfile==0.13.0"


def test_a_range_is_installed_as_it_is_asked_for() -> None:
    remedy = first(MISSING, environment(pins=(pin("soundfile[x] (>=0.12,<1); python_version >= '3'"),)))
    assert remedy.argv is not None
    assert remedy.argv[-1] == "soundfile>=0.12,<1"
    assert remedy.command is not None
    assert remedy.command.endswith("'soundfile>=0.12,<1'")


def test_a_name_that_only_the_log_knows_is_heavy() -> None:
    cause = MISSING.model_copy(update={"module": "evilpackage"})
    remedy = first(cause, environment())
    assert remedy.weight is Weight.HEAVY
    assert "is this really the package" in remedy.reasons[0]


@pytest.mark.parametrize("module", ["-r", "--index-url=http://x", "a b", "../x", "x;y", ""])
def test_a_name_that_is_no_name_is_never_a_command(module: str) -> None:
    cause = MISSING.model_copy(update={"module": module})
    assert package_remedies(cause, wanted(module, environment(), None, None), environment()) == ()


@pytest.mark.parametrize("specifier", ["==1 --index-url http://x", "@ http://x/y.whl", "==$(x)"])
def test_a_requirement_that_is_none_is_left_out(specifier: str) -> None:
    remedy = first(MISSING, environment(pins=(pin(f"soundfile{specifier}"),)))
    assert remedy.argv is not None
    assert remedy.argv[-1] == "soundfile"


def test_import_names_that_differ_from_their_packages() -> None:
    for module, package in {"PIL": "pillow", "zmq": "pyzmq", "cv2": "opencv-python-headless"}.items():
        remedy = first(MISSING.model_copy(update={"module": module}), environment())
        assert remedy.argv is not None
        assert remedy.argv[-1] == package
        assert f"the module {module} comes with the package {package}" in remedy.details


def test_of_several_packages_the_one_that_is_asked_for_is_taken() -> None:
    here = environment(pins=(pin("sgl-kernel==0.3.21"),))
    assert wanted("sgl_kernel", here, None, None).name == "sgl-kernel"
    assert distributions_of("sgl_kernel")[0] == "sglang-kernel"


def test_a_missing_name_replaces_what_is_too_old() -> None:
    here = environment(distributions=installed(sglang="0.5.11", xgrammar="0.1.10"), pins=(pin("xgrammar==0.1.32"),))
    remedy = first(NO_NAME, here, environment(distributions=installed(xgrammar="0.1.32")))
    assert remedy.title == "install xgrammar 0.1.32 in place of 0.1.10"
    assert remedy.argv == (PYTHON, "-m", "pip", "install", "xgrammar==0.1.32")
    assert remedy.details[0] == "xgrammar 0.1.10 is installed"


def test_a_missing_name_in_the_right_version_is_no_installation() -> None:
    here = environment(distributions=installed(xgrammar="0.1.32"), pins=(pin("xgrammar==0.1.32"),))
    remedy = first(NO_NAME, here)
    assert remedy.argv is None
    assert "is the code around it newer, or patched?" in remedy.title


def test_a_module_whose_package_is_there_is_installed_again() -> None:
    here = environment(distributions=installed(soundfile="0.13.1"), pins=(pin("soundfile==0.13.1"),))
    remedy = first(MISSING, here)
    assert remedy.argv is not None
    assert remedy.argv[3:] == ("install", "--force-reinstall", "--no-deps", "soundfile==0.13.1")


def test_uv_installs_where_there_is_no_pip() -> None:
    here = environment(has_pip=False, uv="/root/.local/bin/uv")
    remedy = first(MISSING, here)
    assert remedy.argv == ("/root/.local/bin/uv", "pip", "install", "--python", PYTHON, "soundfile")


def test_neither_pip_nor_uv() -> None:
    remedy = first(MISSING, environment(has_pip=False))
    assert remedy.argv == (PYTHON, "-m", "ensurepip", "--default-pip")
    assert not remedy.is_cure


def test_the_systems_own_python_is_left_alone() -> None:
    remedy = first(MISSING, environment(is_externally_managed=True, is_venv=False))
    assert remedy.argv is None
    assert "package manager" in remedy.details[-1]


def test_a_login_that_may_not_write_there_is_told_so() -> None:
    remedy = first(MISSING, environment(user="ops", is_site_writable=False))
    assert remedy.argv is None
    assert "ops may not write" in remedy.details[-1]


def test_root_installs_as_the_owner_of_the_environment() -> None:
    remedy = first(MISSING, environment(site_owner="llm"))
    assert remedy.argv is not None
    assert remedy.argv[:4] == ("runuser", "-u", "llm", "--")


def test_the_flag_that_goes_around_xgrammar_and_what_it_costs() -> None:
    words = ("python", "-m", "sglang.launch_server", "--speculative-algorithm", "DFLASH")
    flag = avoiding("sglang", "0.5.11", "xgrammar", words)
    assert flag is not None
    assert flag.words == ("--grammar-backend", "none")
    assert "costs nothing" in flag.costs
    plain = avoiding("sglang", "0.5.11", "xgrammar", words[:3])
    newer = avoiding("sglang", "0.5.23", "xgrammar", words)
    assert plain is not None
    assert newer is not None
    assert "JSON-schema" in plain.costs
    assert "JSON-schema" in newer.costs
    assert avoiding("sglang", "0.5.11", "xgrammar", (*words, "--grammar-backend", "none")) is None
    assert avoiding("sglang", "0.5.11", "xgrammar", (*words, "--grammar-backend=none")) is None
    assert avoiding("vllm", "0.20.2", "xgrammar", words) is None


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("/root/venv/bin/python -m sglang.launch_server --port 1", "/root/venv/bin/python"),
        ("/usr/bin/env A=1 /opt/v/bin/python3.12 -m x", "/opt/v/bin/python3.12"),
        ('/bin/bash -c "source /opt/v/bin/activate && exec python -m x"', "/opt/v/bin/python"),
        ("/opt/vllm/bin/vllm serve M", "/opt/vllm/bin/python"),
    ],
)
def test_the_interpreter_of_the_unit(command: str, expected: str) -> None:
    properties = {"ExecStart": f"{{ path=/x ; argv[]={command} ; ignore_errors=no ; start_time=[n/a] }}"}
    assert interpreters(None, properties, "/inventory/bin/python")[0] == expected


def test_the_traceback_tells_the_interpreter_of_a_wrapper() -> None:
    cause = MISSING.model_copy(
        update={"location": Location(file="/opt/v/lib/python3.12/site-packages/sglang/a.py", line=1)}
    )
    properties = {"ExecStart": "{ path=/usr/local/bin/wrap ; argv[]=/usr/local/bin/wrap ; ignore_errors=no }"}
    assert interpreters(cause, properties) == ("/opt/v/bin/python",)


def test_a_library_of_the_system_and_one_of_a_wheel() -> None:
    cause = Cause(
        kind="shared-library", message="libsndfile.so.1: cannot open shared object file: No such file or directory"
    )
    assert library_of(cause) == "libsndfile.so.1"
    remedy = library_remedies("libsndfile.so.1", environment(apt_get="/usr/bin/apt-get"))[0]
    assert remedy.argv is not None
    assert remedy.argv[-1] == "libsndfile1"
    assert remedy.weight is Weight.HEAVY
    wheel = "/root/venv/lib/python3.12/site-packages/nvidia/cuda_runtime/lib/libcudart.so.13"
    (found,) = library_remedies("libcudart.so.13", environment(libraries=(wheel,)))
    assert found.title.endswith(f"LD_LIBRARY_PATH={wheel.rpartition('/')[0]}")
    (other,) = library_remedies("libcudart.so.13", environment(libraries=(wheel.replace(".13", ".12"),)))
    assert "another version is there" in other.title


def test_the_program_reads_a_real_environment(tmp_path: Path) -> None:
    site = tmp_path / "site"
    for name, version, requires in (
        ("sglang", "0.5.11", ("soundfile==0.13.1", "xgrammar==0.1.32; extra == 'grammar'", "Other_Name")),
        ("xgrammar", "0.1.10", ()),
    ):
        folder = site / f"{name}-{version}.dist-info"
        folder.mkdir(parents=True)
        lines = [f"Name: {name}", f"Version: {version}", *(f"Requires-Dist: {one}" for one in requires)]
        (folder / "METADATA").write_text("Metadata-Version: 2.1\n" + "\n".join(lines) + "\n")
        (folder / "top_level.txt").write_text(f"{name}\n")
    order = {
        "names": ["soundfile", "xgrammar", "other-name"],
        "modules": ["xgrammar"],
        "engines": ["sglang", "vllm"],
        "paths": [str(site)],
        "libraries": ["libc.so.6"],
    }
    done = subprocess.run(
        [sys.executable, "-I", "-", json.dumps(order)], input=PROGRAM.read_bytes(), capture_output=True, check=True
    )
    found = Environment.model_validate_json(done.stdout)
    assert found.executable == sys.executable
    assert found.version("xgrammar") == "0.1.10"
    assert found.engine is not None
    assert found.engine.version == "0.5.11"
    assert found.owners["xgrammar"] == ("xgrammar",)
    assert [one.specifier for one in found.pins_on("soundfile")] == ["==0.13.1"]
    assert found.pins_on("xgrammar") == ()
    assert found.pins_on("other-name")[0].specifier == ""
