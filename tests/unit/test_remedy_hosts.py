"""Facts are asked from the host only when the cause asks for them, and remedies are in the host's words."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from dflashtui.config.model import Config, Host, Unit
from dflashtui.model.action import Weight
from dflashtui.model.finding import Cause
from dflashtui.model.gpu import Gpu, GpuProcess, Xid
from dflashtui.model.kernel import OomKill
from dflashtui.ops.remedy import remedies_on
from dflashtui.ops.remedy_host import moved_flags, ports_of
from tests.unit.crash_fakes import HOST, NOW, UNIT, Script
from tests.unit.test_remedy_packages import PYTHON, environment, installed, pin

if TYPE_CHECKING:
    from dflashtui.ops.remedy_value import HostRemedy

GIB = 2**30
BUS = "00000000:01:00.0"


def config(**unit: object) -> Config:
    defined = Unit.model_validate({"name": UNIT, "hosts": ("gpu-a",), "engine": "sglang", **unit})
    return Config(hosts=(Host(name="gpu-a"), Host(name="ref")), units=(defined,))


async def remedies(
    script: Script, kind: str, message: str = "", module: str | None = None, inventory: Config | None = None
) -> tuple[HostRemedy, ...]:
    cause = Cause(kind=kind, message=message, module=module, unit=UNIT)
    return await remedies_on(script.fleet, inventory or config(), "gpu-a", UNIT, cause, script.host.xids)


def gpu(index: int, *processes: GpuProcess) -> Gpu:
    return Gpu(
        index=index,
        uuid=f"GPU-{index}",
        pci_bus_id=f"00000000:0{index}:00.0",
        memory_used_bytes=60 * GIB,
        memory_total_bytes=140 * GIB,
        processes=processes,
    )


async def test_a_missing_package_asks_the_units_own_interpreter() -> None:
    script = Script()
    script.shown = {
        "ExecStart": f"{{ path={PYTHON} ; argv[]={PYTHON} -m sglang.launch_server ; ignore_errors=no }}",
        "Environment": "A=1 PYTHONPATH=/opt/more:/opt/other",
    }
    here = environment(distributions=installed(sglang="0.5.11"), pins=(pin("soundfile==0.13.1"),))
    script.answers[PYTHON, "-I", "-"] = here.model_dump_json().encode()
    found = await remedies(script, "missing-module", "No module named 'soundfile'", "soundfile")
    assert found[0].command == f"{PYTHON} -m pip install soundfile==0.13.1"
    (asked,) = script.asked
    assert json.loads(asked[-1])["paths"] == ["/opt/more", "/opt/other"]


async def test_no_interpreter_answers() -> None:
    script = Script()
    script.shown = {"ExecStart": f"{{ path={PYTHON} ; argv[]={PYTHON} -m x ; ignore_errors=no }}"}
    found = await remedies(script, "missing-module", "No module named 'soundfile'", "soundfile")
    assert "not found" in found[0].details[0]
    assert all(one.argv is None for one in found)


async def test_sudo_is_used_where_the_login_may_not_write() -> None:
    script = Script()
    script.shown = {"ExecStart": f"{{ path={PYTHON} ; argv[]={PYTHON} -m x ; ignore_errors=no }}"}
    here = environment(user="ops", is_site_writable=False, pins=(pin("soundfile==0.13.1"),))
    script.answers[PYTHON, "-I", "-"] = here.model_dump_json().encode()
    inventory = config().model_copy(update={"hosts": (Host(name="gpu-a", become="sudo"),)})
    found = await remedies(script, "missing-module", "No module named 'soundfile'", "soundfile", inventory)
    assert found[0].argv == ("sudo", "-n", PYTHON, "-m", "pip", "install", "soundfile==0.13.1")


async def test_an_answer_that_is_none_is_said() -> None:
    script = Script()
    script.shown = {"ExecStart": f"{{ path={PYTHON} ; argv[]={PYTHON} -m x ; ignore_errors=no }}"}
    script.answers[PYTHON, "-I", "-"] = b'{"python": ["\x1b[2J"]}'
    found = await remedies(script, "missing-module", "No module named 'soundfile'", "soundfile")
    assert "cannot be read" in found[0].details[0]


async def test_out_of_gpu_memory_names_the_holders_by_unit() -> None:
    mine = gpu(1, GpuProcess(pid=5, unit="other.service", memory_used_bytes=50 * GIB), GpuProcess(pid=6, command="x"))
    script = Script(HOST.model_copy(update={"gpus": (gpu(0), mine)}))
    found = await remedies(script, "cuda-oom", "CUDA out of memory.", inventory=config(gpus=(1,)))
    assert found[0].details == ("GPU 1: 60.0 GiB of 140 GiB used: other.service 50.0 GiB (pid 5), no unit – (pid 6)",)
    assert found[1].argv == ("kill", "-TERM", "6")
    assert found[1].weight is Weight.HEAVY
    assert script.asked == []


async def test_cuda_visible_devices_tells_the_gpus() -> None:
    script = Script(HOST.model_copy(update={"gpus": (gpu(0), gpu(1))}))
    script.shown = {"Environment": "CUDA_VISIBLE_DEVICES=1"}
    found = await remedies(script, "cuda-oom", "CUDA out of memory.")
    assert [line[:6] for line in found[0].details] == ["GPU 1:"]


async def test_a_gpu_fault_tells_the_xid_its_meaning_and_who_shares_the_gpu() -> None:
    xid = Xid(pci_bus_id=BUS, xid=79, at=NOW, message="GPU has fallen off the bus.")
    mine = gpu(1, GpuProcess(pid=5, unit="other.service"))
    script = Script(HOST.model_copy(update={"gpus": (gpu(0), mine), "xids": (xid,)}))
    found = await remedies(script, "gpu-lost", "GPU is lost", inventory=config(gpus=(1,)))
    assert found[0].title.startswith("Xid 79, GPU has fallen off the bus: reboot the host")
    assert found[1].title == "other units share GPU 1: stop them before a reset"
    assert found[1].details == ("other.service on GPU 1",)


async def test_host_memory_tells_the_limit_and_the_kill() -> None:
    kill = OomKill(at=NOW, pid=9, process_name="python", unit=UNIT, is_cgroup_limit=True, anon_rss_bytes=8 * GIB)
    unit = HOST.units[0].model_copy(update={"memory_max_bytes": 8 * GIB}) if HOST.units else None
    script = Script(HOST.model_copy(update={"units": (unit,), "oom_kills": (kill,)}))
    found = await remedies(script, "host-oom", "killed")
    assert found[0].title.startswith("raise MemoryMax=")
    assert found[0].details[:2] == (
        f"MemoryMax=8.0 GiB of {UNIT}",
        "pid 9 (python) held 8.0 GiB: the limit of its unit",
    )


async def test_a_port_is_held_by_another_unit_or_by_nobody() -> None:
    script = Script()
    row = b'LISTEN 0 128 0.0.0.0:30001 0.0.0.0:* users:(("python3",pid=12,fd=5))\n'
    script.answers["ss", "-Hltnp"] = row
    script.answers[("grep",)] = b"/proc/12/cgroup:0::/system.slice/other.service\n"
    message = "[Errno 98] error while attempting to bind on address ('0.0.0.0', 30001): address already in use"
    found = await remedies(script, "port-in-use", message)
    assert found[0].argv == ("systemctl", "stop", "other.service")
    assert found[0].details == ("python3 (pid 12) listens on 0.0.0.0:30001",)
    script.answers[("grep",)] = b"/proc/12/cgroup:0::/user.slice/user-0.slice/session-5.scope\n"
    found = await remedies(script, "port-in-use", message)
    assert found[0].argv == ("kill", "-TERM", "12")
    assert found[0].weight is Weight.HEAVY
    script.answers["ss", "-Hltnp"] = b""
    found = await remedies(script, "port-in-use", message)
    assert found[0].title == "port 30001: it is free now"


def test_ports_come_from_the_message_or_the_command() -> None:
    assert ports_of(Cause(kind="port-in-use", message="Port 30000 is in use"), ()) == (30000,)
    assert ports_of(Cause(kind="port-in-use", message="bind 127.0.0.1:8000 failed"), ()) == (8000,)
    assert ports_of(Cause(kind="port-in-use", message="Address already in use"), ("x", "--port", "7")) == (7,)
    assert ports_of(Cause(kind="port-in-use", message="Address already in use"), ("x", "--port=30001")) == (30001,)
    assert ports_of(Cause(kind="port-in-use", message="port 99999"), ()) == ()


async def test_a_path_is_looked_at_on_the_host() -> None:
    script = Script()
    script.answers["namei", "-l", "--", "/models/x"] = b"f: /models/x\ndrwx root root /\n"
    found = await remedies(script, "model-not-found", "No such file or directory: '/models/x'")
    assert found[0].title == "what is at /models/x on gpu-a"
    assert found[0].details == ("f: /models/x", "drwx root root /")


def test_a_flag_that_has_another_name_now() -> None:
    cause = Cause(kind="bad-argument", message="unrecognized arguments: --mamba-scheduler-strategy extra_buffer")
    (remedy,) = moved_flags(cause)
    assert remedy.title == "--mamba-scheduler-strategy is --mamba-radix-cache-strategy since sglang 0.5.15"


async def test_other_kinds_ask_nothing() -> None:
    script = Script()
    found = await remedies(script, "auth", "401 Unauthorized")
    assert found
    assert script.asked == []
