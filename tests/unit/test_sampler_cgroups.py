from pathlib import Path

import pytest

from dflashtui.sampler.cgroups import holder, usage

DOCKER_ID = "0123456789ab" + "c" * 52


@pytest.mark.parametrize(
    ("path", "unit"),
    [
        ("/system.slice/sglang.service", "sglang.service"),
        ("/system.slice/system-worker.slice/worker@3.service", "worker@3.service"),
        ("/system.slice/sglang.service/workers/rank0", "sglang.service"),
        ("/gpu.slice/gpu-big.slice/vllm.service", "vllm.service"),
        ("/system.slice/_cgroup.service", "cgroup.service"),
        ("/system.slice/run-u12.scope", "run-u12.scope"),
        ("/system.slice/a.service (deleted)", "a.service"),
        ("/system.slice/x.service/libpod-payload-" + DOCKER_ID, "x.service"),
        ("/user.slice/user-1000.slice/user@1000.service/app.slice/sglang.service", "sglang.service"),
        ("/user.slice/user-1000.slice/user@1000.service/app.slice/app-w.slice/w@1.service/x", "w@1.service"),
    ],
)
def test_a_process_of_a_unit(path: str, unit: str) -> None:
    assert holder(f"0::{path}\n") == (unit, None)


@pytest.mark.parametrize(
    ("path", "held_by"),
    [
        ("/user.slice/user-0.slice/session-5.scope", "session-5.scope"),
        ("/user.slice/user-1000.slice/user@1000.service/tmux-spawn-1.scope", "tmux-spawn-1.scope"),
        ("/user.slice/user-1000.slice/user@1000.service/init.scope", "init.scope"),
        (f"/system.slice/docker-{DOCKER_ID}.scope", "docker 0123456789ab"),
        (f"/docker/{DOCKER_ID}", "docker 0123456789ab"),
        (f"/machine.slice/libpod-{DOCKER_ID}.scope/container", "libpod 0123456789ab"),
        (f"/kubepods.slice/kubepods-pod1.slice/cri-containerd-{DOCKER_ID}.scope", "cri-containerd 0123456789ab"),
        ("/lxc/129/ns/system.slice/sglang.service", "lxc 129"),
        ("/lxc.payload.ct129/system.slice/sglang.service", "lxc ct129"),
        (r"/machine.slice/machine-gpu\x2da.scope/payload/system.slice/sglang.service", "machine gpu-a"),
        ("/", None),
        ("", None),
        ("/something", "something"),
    ],
)
def test_a_process_of_no_unit(path: str, held_by: str | None) -> None:
    assert holder(f"0::{path}\n") == (None, held_by)


LEGACY = "9:name=systemd:{systemd}\n8:pids:/x\n4:memory:/system.slice/wrong.service\n0::{unified}\n"


@pytest.mark.parametrize(
    ("systemd", "unified"),
    [
        ("/system.slice/a.service", "/"),
        ("/system.slice/a.service", "/system.slice/a.service"),
        ("/", "/system.slice/a.service"),
    ],
)
def test_legacy_hybrid_and_unified_hierarchies(systemd: str, unified: str) -> None:
    assert holder(LEGACY.format(systemd=systemd, unified=unified)) == ("a.service", None)


@pytest.mark.parametrize("text", ["", "garbage", "0::", "x:y", "::::", "0::/\x00/a.service\n"])
def test_hostile_text_is_no_unit_or_one_at_most(text: str) -> None:
    unit, _ = holder(text)
    assert unit in {None, "a.service"}


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_usage_of_a_unified_hierarchy(tmp_path: Path) -> None:
    write(tmp_path / "cgroup.controllers", "cpu memory pids\n")
    group = tmp_path / "system.slice/a.service"
    write(group / "memory.current", "4096\n")
    write(group / "cpu.stat", "usage_usec 1234\nuser_usec 1000\n")
    write(group / "pids.current", "7\n")
    assert usage("/system.slice/a.service", str(tmp_path)) == [4096, 1_234_000, 7]


def test_usage_of_the_legacy_hierarchies(tmp_path: Path) -> None:
    write(tmp_path / "memory/system.slice/a.service/memory.usage_in_bytes", "4096\n")
    write(tmp_path / "cpuacct/system.slice/a.service/cpuacct.usage", "1234\n")
    write(tmp_path / "pids/system.slice/a.service/pids.current", "7\n")
    assert usage("/system.slice/a.service", str(tmp_path)) == [4096, 1234, 7]


@pytest.mark.parametrize("group", ["", "/", "/system.slice/gone.service", "/system.slice/../../etc"])
def test_usage_of_nothing_is_unknown(tmp_path: Path, group: str) -> None:
    write(tmp_path / "cgroup.controllers", "")
    assert usage(group, str(tmp_path)) == [None, None, None]


def test_a_controller_that_is_off_leaves_the_others(tmp_path: Path) -> None:
    write(tmp_path / "cgroup.controllers", "cpu\n")
    write(tmp_path / "a.service/cpu.stat", "usage_usec 5\n")
    assert usage("a.service", str(tmp_path)) == [None, 5000, None]
