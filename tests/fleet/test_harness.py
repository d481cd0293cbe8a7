"""The fleet itself: without these the other tests of this folder prove nothing."""

import importlib.util
import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from .harness.fleet import TestFleet
from .harness.instance import claim, load, remove
from .harness.shell import HarnessError, run, wait_until

SAMPLE = """
import json, sys
pynvml.nvmlInit()
handle = pynvml.nvmlDeviceGetHandleByIndex(int(sys.argv[1]))
memory = pynvml.nvmlDeviceGetMemoryInfo(handle, version=pynvml.nvmlMemory_v2)
rates = pynvml.nvmlDeviceGetUtilizationRates(handle)
def failure(call, *arguments):
    try:
        return call(handle, *arguments)
    except pynvml.NVMLError as error:
        return error.value
json.dump({
    "driver": pynvml.nvmlSystemGetDriverVersion(),
    "count": pynvml.nvmlDeviceGetCount(),
    "name": pynvml.nvmlDeviceGetName(handle),
    "uuid": pynvml.nvmlDeviceGetUUID(handle),
    "bus": pynvml.nvmlDeviceGetPciInfo(handle).busId,
    "memory": [memory.total, memory.reserved, memory.free, memory.used],
    "memory_v1_used": pynvml.nvmlDeviceGetMemoryInfo(handle).used,
    "rates": [rates.gpu, rates.memory],
    "power": pynvml.nvmlDeviceGetPowerUsage(handle),
    "temperature": pynvml.nvmlDeviceGetTemperature(handle, pynvml.NVML_TEMPERATURE_GPU),
    "temperature_v": pynvml.nvmlDeviceGetTemperatureV(handle, pynvml.NVML_TEMPERATURE_GPU),
    "sm_clock": pynvml.nvmlDeviceGetClockInfo(handle, pynvml.NVML_CLOCK_SM),
    "reasons": pynvml.nvmlDeviceGetCurrentClocksEventReasons(handle),
    "ecc": pynvml.nvmlDeviceGetTotalEccErrors(handle, 1, 0),
    "remapped": pynvml.nvmlDeviceGetRemappedRows(handle),
    "mig": pynvml.nvmlDeviceGetMigMode(handle),
    "capability": pynvml.nvmlDeviceGetCudaComputeCapability(handle),
    "fan": failure(pynvml.nvmlDeviceGetFanSpeed),
    "retired": failure(pynvml.nvmlDeviceGetRetiredPages, 0),
    "processes": [[p.pid, p.usedGpuMemory] for p in pynvml.nvmlDeviceGetComputeRunningProcesses(handle)],
    "graphics": len(pynvml.nvmlDeviceGetGraphicsRunningProcesses(handle)),
}, sys.stdout)
"""


def pynvml_program(body: str) -> bytes:
    """A program for `python3 -` that brings the real pynvml along, as the shipped sampler does."""
    spec = importlib.util.find_spec("pynvml")
    assert spec
    assert spec.origin
    text = Path(spec.origin).read_text()
    loader = "import types\npynvml = types.ModuleType('pynvml')\n"
    register = "import sys\nsys.modules['pynvml'] = pynvml\n"
    return f"{loader}{register}exec(compile({text!r}, 'pynvml.py', 'exec'), pynvml.__dict__)\n{body}".encode()


def sample(fleet: TestFleet, host: str, index: int = 0) -> dict[str, object]:
    output = fleet.ssh(host, "python3", "-", str(index), stdin=pynvml_program(SAMPLE))
    answer: dict[str, object] = json.loads(output)
    return answer


def nvidia_smi(fleet: TestFleet, host: str, fields: str) -> list[str]:
    query = ("nvidia-smi", f"--query-gpu={fields}", "--format=csv,noheader,nounits")
    return fleet.check(host, *query).decode().splitlines()


@pytest.mark.parametrize("name", ["gpu-a", "gpu-b", "gpu-c"])
def test_host_answers_over_ssh_with_strict_host_keys(fleet: TestFleet, name: str) -> None:
    assert fleet.ssh(name, "hostname").decode().strip() == name
    assert fleet.ssh(name, "systemctl", "is-system-running").strip() == b"running"


def test_unknown_host_key_is_refused(fleet: TestFleet, tmp_path: Path) -> None:
    empty = tmp_path / "known_hosts"
    empty.touch()
    with pytest.raises(HarnessError, match="Host key verification failed"):
        run("ssh", "-F", fleet.ssh_config, "-o", f"UserKnownHostsFile={empty}", "gpu-a", "true")


def test_hosts_are_three_machines(fleet: TestFleet) -> None:
    ids = {fleet.read_file(name, "/etc/machine-id") for name in fleet.hosts}
    assert len(ids) == 3
    assert b"" not in ids


def test_import_error_really_fails(fleet: TestFleet) -> None:
    fleet.start("gpu-a", "sglang-import-error.service")
    wait_until(
        lambda: fleet.show("gpu-a", "sglang-import-error.service")["ActiveState"] == "failed", "failure", seconds=10
    )
    assert fleet.show("gpu-a", "sglang-import-error.service")["Result"] == "exit-code"
    fleet.check("gpu-a", "journalctl", "--sync")
    invocation = fleet.show("gpu-a", "sglang-import-error.service")["InvocationID"]
    texts = [
        entry["MESSAGE"]
        for entry in fleet.journal("gpu-a", "sglang-import-error.service")
        if entry.get("_SYSTEMD_INVOCATION_ID") == invocation
    ]
    assert texts[0] == "Traceback (most recent call last):"
    assert texts[-1] == "ModuleNotFoundError: No module named 'soundfile'"


def test_loop_restarts(fleet: TestFleet) -> None:
    fleet.start("gpu-b", "sglang-loop.service")
    wait_until(lambda: int(fleet.show("gpu-b", "sglang-loop.service")["NRestarts"]) >= 2, "restarts", seconds=20)


def test_engine_becomes_ready(fleet: TestFleet) -> None:
    fleet.write_file("gpu-a", "/etc/fleet/sglang-ok.env", "STEP_SECONDS=0.02\n")
    fleet.start("gpu-a", "sglang-ok.service")
    health = "import urllib.request as u; print(u.urlopen('http://127.0.0.1:30001/health', timeout=5).status)"
    wait_until(lambda: fleet.exec("gpu-a", "python3", "-c", health).stdout == b"200\n", "readiness", seconds=20)


def test_stubborn_unit_is_killed_in_the_end(fleet: TestFleet) -> None:
    fleet.start("gpu-a", "stubborn.service")
    wait_until(lambda: len(fleet.journal("gpu-a", "stubborn.service", "_TRANSPORT=stdout")) == 1, "line", seconds=10)
    fleet.stop("gpu-a", "stubborn.service")
    assert fleet.show("gpu-a", "stubborn.service")["Result"] == "timeout"


def test_flood_writes_every_line(fleet: TestFleet) -> None:
    fleet.write_file("gpu-a", "/etc/fleet/flood.env", "LINES=20000\nRATE=0\n")
    fleet.start("gpu-a", "flood.service")
    wait_until(lambda: fleet.show("gpu-a", "flood.service")["ActiveState"] == "inactive", "end", seconds=20)
    fleet.check("gpu-a", "journalctl", "--sync")
    invocation = fleet.journal("gpu-a", "flood.service", "_TRANSPORT=stdout", "-n1")[0]["_SYSTEMD_INVOCATION_ID"]
    entries = fleet.journal("gpu-a", "flood.service", f"_SYSTEMD_INVOCATION_ID={invocation}")
    assert [entry["MESSAGE"] for entry in entries] == [f"line {number}" for number in range(1, 20001)]


def test_hostile_unit_is_hostile(fleet: TestFleet) -> None:
    name = r"hostile-\x5b\x2fx\x5d.service"
    assert fleet.start("gpu-a", name).returncode == 0
    description = fleet.show("gpu-a", name)["Description"]
    assert "[/x]" in description
    assert "\x1b]0;" in description
    wait_until(
        lambda: any(isinstance(entry["MESSAGE"], list) for entry in fleet.journal("gpu-a", name)),
        "lines that are not printable",
        seconds=10,
    )


def test_plain_user_may_look_but_not_act(fleet: TestFleet) -> None:
    assert fleet.ssh("ops@gpu-a", "systemctl", "show", "-P", "LoadState", "oneshot.service") == b"loaded\n"
    with pytest.raises(HarnessError, match="authentication required"):
        fleet.ssh("ops@gpu-a", "systemctl", "--no-ask-password", "start", "oneshot.service")


def test_sudo_user_may_act(fleet: TestFleet) -> None:
    fleet.ssh("sud@gpu-a", "sudo", "-n", "systemctl", "start", "oneshot.service")
    assert fleet.show("gpu-a", "oneshot.service")["ActiveState"] == "active"


def test_user_manager_lingers(fleet: TestFleet) -> None:
    user_systemctl = ("env", "XDG_RUNTIME_DIR=/run/user/1000", "systemctl", "--user")
    fleet.ssh("ops@gpu-a", *user_systemctl, "start", "user-counter.service")
    fleet.ssh("ops@gpu-a", *user_systemctl, "stop", "user-counter.service")


def test_real_pynvml_reads_the_recorded_values(fleet: TestFleet) -> None:
    assert sample(fleet, "gpu-a") == {
        "driver": "580.159.04",
        "count": 8,
        "name": "NVIDIA H200",
        "uuid": "GPU-00000000-0000-4000-8000-000000010001",
        "bus": "00000000:06:00.0",
        "memory": [150754820096, 644939776, 150109880320, 0],
        "memory_v1_used": 644939776,
        "rates": [0, 0],
        "power": 78159,
        "temperature": 35,
        "temperature_v": 35,
        "sm_clock": 345,
        "reasons": 1,
        "ecc": 0,
        "remapped": [0, 0, 0, 0],
        "mig": [0, 0],
        "capability": [9, 0],
        "fan": 3,
        "retired": 3,
        "processes": [],
        "graphics": 0,
    }


def test_gpu_holds_the_memory_of_a_unit(fleet: TestFleet) -> None:
    fleet.start("gpu-b", "worker@3.service")
    fleet.put_on_gpu("gpu-b", 2, "worker@3.service", 8 << 30)
    answer = sample(fleet, "gpu-b", 2)
    assert answer["processes"] == [[int(fleet.show("gpu-b", "worker@3.service")["MainPID"]), 8 << 30]]
    assert answer["memory"] == [150754820096, 644939776, 150109880320 - (8 << 30), 8 << 30]
    fleet.stop("gpu-b", "worker@3.service")
    assert sample(fleet, "gpu-b", 2)["processes"] == []


def test_lost_gpu_is_lost_until_put_back(fleet: TestFleet) -> None:
    fleet.set_gpu("gpu-a", 5, lost=True)
    with pytest.raises(HarnessError, match="NVMLError_GpuIsLost"):
        sample(fleet, "gpu-a", 5)
    assert nvidia_smi(fleet, "gpu-a", "index,temperature.gpu")[4:6] == ["4, 35", "5, [GPU is lost]"]
    fleet.set_gpu("gpu-a", 5, lost=None)
    assert sample(fleet, "gpu-a", 5)["temperature"] == 35


@pytest.mark.parametrize(("code", "error"), [(18, "LibRmVersionMismatch"), (9, "DriverNotLoaded")])
def test_driver_trouble_at_init(fleet: TestFleet, code: int, error: str) -> None:
    fleet.set_driver("gpu-a", init=code)
    with pytest.raises(HarnessError, match=error):
        sample(fleet, "gpu-a")
    assert fleet.exec("gpu-a", "nvidia-smi", "--query-gpu=index", "--format=csv").returncode == code


def test_host_without_driver(fleet: TestFleet) -> None:
    with pytest.raises(HarnessError, match="LibraryNotFound"):
        sample(fleet, "gpu-c")


def test_single_call_fails(fleet: TestFleet) -> None:
    fleet.fail_gpu_call("gpu-a", 1, "nvmlDeviceGetPowerUsage", 999)
    assert nvidia_smi(fleet, "gpu-a", "power.draw,temperature.gpu")[:2] == ["78.16, 35", "[Unknown Error], 35"]


def test_hanging_call_hangs_until_released(fleet: TestFleet) -> None:
    fleet.set_gpu("gpu-a", 0, hang="nvmlDeviceGetPowerUsage", power_usage_milliwatts=1000)
    command = fleet.hosts["gpu-a"].command("nvidia-smi", "--query-gpu=power.draw", "--format=csv,noheader")
    with subprocess.Popen(command, stdout=subprocess.PIPE) as asking:
        with pytest.raises(subprocess.TimeoutExpired):
            asking.wait(0.3)
        fleet.set_gpu("gpu-a", 0, hang=None)
        assert asking.communicate(timeout=10)[0].splitlines()[0] == b"1.00 W"


def test_nvidia_smi_agrees_with_the_recording(fleet: TestFleet) -> None:
    fields = "index,name,memory.total,memory.used,memory.free,power.limit,fan.speed,clocks.sm,pstate,compute_cap"
    rows = nvidia_smi(fleet, "gpu-b", fields)
    assert rows[0] == "0, NVIDIA H200, 143771, 0, 143156, 700.00, [N/A], 345, P0, 9.0"
    assert len(rows) == 8


def test_cut_host_is_silent_and_comes_back(fleet: TestFleet) -> None:
    address = (fleet.hosts["gpu-b"].address, fleet.hosts["gpu-b"].port)
    fleet.cut("gpu-b")
    with pytest.raises(TimeoutError):
        socket.create_connection(address, timeout=0.5)
    assert fleet.exec("gpu-b", "hostname").stdout == b"gpu-b\n"
    assert fleet.ssh("gpu-a", "hostname") == b"gpu-a\n"
    fleet.join("gpu-b")
    with socket.create_connection(address, timeout=10) as link:
        assert link.recv(4) == b"SSH-"


def test_host_survives_a_reboot(fleet: TestFleet) -> None:
    before = (
        fleet.read_file("gpu-c", "/etc/machine-id"),
        fleet.check("gpu-c", "systemctl", "show", "-P", "UserspaceTimestamp"),
    )
    fleet.hosts["gpu-c"].reboot()
    assert fleet.read_file("gpu-c", "/etc/machine-id") == before[0]
    assert fleet.check("gpu-c", "systemctl", "show", "-P", "UserspaceTimestamp") != before[1]
    assert len(fleet.check("gpu-c", "journalctl", "-q", "--list-boots").splitlines()) >= 2


def test_kernel_line_is_the_kernels(fleet: TestFleet) -> None:
    xid = "NVRM: Xid (PCI:0000:06:00): 79, pid=471, name=python3, GPU has fallen off the bus."
    fleet.log_kernel("gpu-a", xid)
    fleet.check("gpu-a", "journalctl", "--sync")
    newest = json.loads(fleet.check("gpu-a", "journalctl", "-k", "-q", "-n1", "-o", "json"))
    assert (newest["MESSAGE"], newest["_TRANSPORT"], newest["PRIORITY"]) == (xid, "kernel", "3")


def test_files_come_back(fleet: TestFleet) -> None:
    fleet.write_file("gpu-a", "/etc/systemd/system/counter.service.d/x.conf", "[Unit]\nDescription=changed\n")
    fleet.check("gpu-a", "systemctl", "daemon-reload")
    assert fleet.show("gpu-a", "counter.service")["Description"] == "changed"
    fleet.reset()
    assert fleet.show("gpu-a", "counter.service")["Description"] == 'Writes "line N" every 20 ms'


def test_fleet_of_a_dead_owner_is_removed(fleet: TestFleet) -> None:
    program = "import os; from tests.fleet.harness.instance import claim; print(claim(os.getpid()).folder)"
    abandoned = Path(
        run(sys.executable, "-c", program, environment={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])})
        .decode()
        .strip()
    )
    assert (abandoned / "instance.json").exists()
    mine = claim(os.getpid())
    try:
        assert abandoned == mine.folder or not abandoned.exists()
        assert load(mine.folder).owner_pid == os.getpid()
    finally:
        remove(mine)
    assert not mine.folder.exists()
