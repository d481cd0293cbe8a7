"""How each package gets from one environment to another."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from dflashtui.model.environment import Environment, Interpreter, PackageFile, Source
from dflashtui.ops.installing import as_owner, install_argv, obstacle, uninstall_argv
from dflashtui.ops.sync_plan import plan
from tests.unit.environments import code, dist, environment

if TYPE_CHECKING:
    from dflashtui.model.sync import SyncStep

A, B, C = "aa" * 32, "bb" * 32, "cc" * 32


def file(name: str, sha256: str, recorded: str | None = None, package: str = "mine") -> PackageFile:
    return PackageFile(package=package, file=name, sha256=sha256, recorded=recorded or sha256, size=10, mode=0o644)


def host(name: str, *distributions: object, **facts: object) -> Environment:
    return environment(*distributions, host=name, **facts)  # type: ignore[arg-type]


THERE = host("gpu-a", dist("mine", "2.0", has_record=True))
HERE = host("gpu-b", dist("mine", "1.0", has_record=True))
NEW = (file("mine/a.py", B), file("mine/b.py", A), file("mine-2.0.dist-info/METADATA", B))
OLD = (file("mine/a.py", A), file("mine/b.py", A), file("mine/old.py", A), file("mine-1.0.dist-info/METADATA", A))


def step(there: Environment = THERE, theirs: tuple[PackageFile, ...] = NEW, *, copy: bool = False) -> SyncStep:
    (one,) = plan(there, HERE, ["mine"], theirs, OLD, copy=copy).steps
    return one


def test_an_indexs_version_is_installed() -> None:
    one = step()
    assert (one.way, one.spec, one.here, one.there) == ("install", "mine==2.0", "1.0", "2.0")
    assert set(one.installed) == {old.file for old in OLD}


def test_a_copy_takes_what_differs_and_removes_what_is_gone() -> None:
    one = step(copy=True)
    assert one.way == "copy"
    assert [sent.path for sent in one.files] == ["mine/a.py", "mine-2.0.dist-info/METADATA"]
    assert one.remove == ("mine/old.py", "mine-1.0.dist-info/METADATA")
    assert one.bytes == 20


def test_what_no_index_can_have_is_copied_and_says_why() -> None:
    patched = step(theirs=(file("mine/a.py", B, recorded=C), *NEW[1:]))
    assert (patched.way, patched.why) == ("copy", "1 files are patched there: mine/a.py")
    git = Source(kind="git", url="https://x", commit="1a2b3c4d5e6f")
    assert (
        step(host("gpu-a", dist("mine", "2.0", has_record=True, source=git))).why
        == "installed there from git 1a2b3c4d5e"
    )
    torch = host("gpu-a", dist("torch", "2.9.1", has_record=True), codes=(code("torch", "2.11.0+cu130", "13.0"),))
    (one,) = plan(torch, HERE, ["torch"], [file("torch/version.py", B, package="torch")], []).steps
    assert (one.way, one.why) == ("copy", "its code says 2.11.0+cu130, its metadata 2.9.1")


def test_what_is_the_same_is_left_alone_though_its_script_and_installer_differ() -> None:
    twin = HERE.model_copy(update={"host": "gpu-a"})
    theirs = (*OLD, file("../../../bin/mine", B), file("mine-1.0.dist-info/INSTALLER", B))
    assert step(twin, theirs).way == "same"


@pytest.mark.parametrize(
    ("there", "words"),
    [
        (host("gpu-a"), "not installed on gpu-a"),
        (host("gpu-a", dist("mine", "2.0")), "no RECORD"),
        (host("gpu-a", dist("mine", "2.0", has_record=True, site="/usr/lib/python3/dist-packages")), "outside of"),
        (
            host(
                "gpu-a", dist("mine", "2.0", has_record=True, source=Source(kind="editable", url="file:///root/mine"))
            ),
            "editable on gpu-a, from file:///root/mine",
        ),
    ],
)
def test_what_cannot_go_over_is_refused(there: Environment, words: str) -> None:
    one = step(there)
    assert one.way == "refused"
    assert words in one.why


def test_compiled_files_go_only_to_the_same_python_and_processor() -> None:
    compiled = (*NEW, file("mine/_c.cpython-311-x86_64-linux-gnu.so", B))
    other = THERE.interpreter.model_copy(update={"abi": "cpython-312"})
    assert "compiled files for cpython-312" in step(THERE.model_copy(update={"interpreter": other}), compiled).why
    arm = THERE.system.model_copy(update={"machine": "aarch64"})
    assert "aarch64" in step(THERE.model_copy(update={"system": arm}), compiled).why


def test_what_the_systems_folder_has_is_covered_and_left_alone() -> None:
    below = host("gpu-b", dist("mine", "1.0", has_record=True, site="/usr/lib/python3/dist-packages"))
    (one,) = plan(THERE, below, ["mine"], NEW, OLD, copy=True).steps
    assert (one.here, one.remove, one.installed) == ("1.0", (), ())
    assert {sent.path for sent in one.files} == {new.file for new in NEW}


def test_the_same_plan_has_the_same_name_and_another_one_has_not() -> None:
    def name(theirs: tuple[PackageFile, ...]) -> str:
        return plan(THERE, HERE, ["mine"], theirs, OLD, copy=True).id

    assert name(NEW) == name(NEW)
    assert name(NEW) != name(NEW[:2])


PIP = Interpreter(executable="/v/bin/python", version="3.11.2", purelib="/v/site", has_pip=True, owner="llm")
UV = PIP.model_copy(update={"has_pip": False, "uv": "/usr/bin/uv"})


def test_packages_are_installed_by_whoever_owns_the_environment() -> None:
    assert install_argv(PIP, "llm", ["a==1"]) == ("/v/bin/python", "-m", "pip", "install", "a==1")
    assert as_owner(PIP, "root") == ("runuser", "-u", "llm", "--")
    assert as_owner(PIP, "ops", "sudo") == ("sudo", "-n", "-u", "llm", "--")
    assert install_argv(UV, "llm", ["a==1"]) == ("/usr/bin/uv", "pip", "install", "--python", "/v/bin/python", "a==1")
    assert uninstall_argv(PIP, "llm", ["a"]) == ("/v/bin/python", "-m", "pip", "uninstall", "--yes", "a")


def test_nothing_is_installed_where_that_may_not_be() -> None:
    assert "may not write" in str(obstacle(PIP, "ops"))
    assert "package manager" in str(obstacle(PIP.model_copy(update={"is_externally_managed": True}), "root"))
    assert "neither pip nor uv" in str(obstacle(PIP.model_copy(update={"has_pip": False}), "llm"))
    assert install_argv(PIP, "ops", ["a==1"]) is None


@pytest.mark.parametrize(
    "spec", ["--index-url=http://x", "a @ https://x", "a; rm -rf /", "", "a==1 b", "a\n", "a==1,-r"]
)
def test_no_word_of_a_host_becomes_an_option_of_pip(spec: str) -> None:
    assert install_argv(PIP, "llm", [spec]) is None
