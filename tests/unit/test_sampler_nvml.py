from pathlib import Path
from typing import Any

import pynvml
import pytest

from dflashtui.sampler.nvml import AGAIN_SECONDS, Nvml
from dflashtui.sampler.processes import ProcessTable
from tests.unit.nvml_fake import GIB, FakeNvml, process


@pytest.fixture
def nvml() -> FakeNvml:
    return FakeNvml(nvmlDeviceGetCount=2)


@pytest.fixture
def reader(nvml: FakeNvml, tmp_path: Path) -> Nvml:
    return Nvml(nvml, ProcessTable(str(tmp_path), str(tmp_path / "passwd")))


def indexes_lost(reading: dict[str, Any]) -> list[int]:
    return [gpu["index"] for gpu in reading["gpus"] if "lost" in gpu]


def test_versions_and_gpus(reader: Nvml) -> None:
    reading = reader.read(now=0)
    assert (reading["driver_version"], reading["cuda_driver_version"]) == ("580.159.04", "13.0")
    assert [gpu["index"] for gpu in reading["gpus"]] == [0, 1]


def test_cuda_12_8_is_not_12_80(nvml: FakeNvml, reader: Nvml) -> None:
    nvml.answers["nvmlSystemGetCudaDriverVersion_v2"] = 12080
    assert reader.read(now=0)["cuda_driver_version"] == "12.8"


def test_a_driver_that_is_loaded_later_appears(nvml: FakeNvml, reader: Nvml) -> None:
    nvml.errors["nvmlInit"] = pynvml.NVML_ERROR_DRIVER_NOT_LOADED
    assert reader.read(now=0) == {"nvml": {"code": 9, "words": "Driver Not Loaded"}}
    nvml.errors.clear()
    assert "gpus" not in reader.read(now=AGAIN_SECONDS - 1)
    assert nvml.calls["nvmlInit"] == 1
    assert len(reader.read(now=AGAIN_SECONDS)["gpus"]) == 2


def test_no_failed_start_leaves_the_library_in_use(nvml: FakeNvml, reader: Nvml) -> None:
    nvml.errors["nvmlDeviceGetCount"] = pynvml.NVML_ERROR_UNKNOWN
    for attempt in range(5):
        reader.read(now=attempt * AGAIN_SECONDS)
    assert nvml.calls["nvmlInit"] == nvml.calls["nvmlShutdown"] == 5


def test_a_driver_that_goes_away_is_a_state_and_comes_back(nvml: FakeNvml, reader: Nvml) -> None:
    reader.read(now=0)
    nvml.errors["nvmlDeviceGetUtilizationRates"] = pynvml.NVML_ERROR_LIB_RM_VERSION_MISMATCH
    assert reader.read(now=1000)["nvml"]["code"] == 18
    nvml.errors.clear()
    assert "gpus" in reader.read(now=1000 + AGAIN_SECONDS)


class TwoGpus(FakeNvml):
    """The second one can be lost."""

    is_lost = True

    def _call(self, name: str, *arguments: object) -> object:
        if name == "nvmlDeviceGetHandleByIndex":
            return arguments[0]
        if arguments and arguments[0] == 1 and self.is_lost:
            self.calls["to the lost one"] += 1
            raise pynvml.NVMLError(pynvml.NVML_ERROR_GPU_IS_LOST)
        return super()._call(name, *arguments)


def test_one_lost_gpu_leaves_the_others_and_the_library_alone(tmp_path: Path) -> None:
    nvml = TwoGpus(nvmlDeviceGetCount=2)
    reader = Nvml(nvml, ProcessTable(str(tmp_path), str(tmp_path / "passwd")))
    for second in range(0, 200, 2):
        reading = reader.read(now=second)
        assert indexes_lost(reading) == [1]
        assert reading["gpus"][0]["power_watts"] == 690.994
    assert nvml.calls["nvmlInit"] == 1
    assert nvml.calls["to the lost one"] == 200 // AGAIN_SECONDS + 1
    nvml.is_lost = False
    assert indexes_lost(reader.read(now=300)) == []


def test_when_no_gpu_answers_the_library_is_started_anew_and_names_stay(nvml: FakeNvml, reader: Nvml) -> None:
    reader.read(now=0)
    nvml.errors["nvmlDeviceGetPowerUsage"] = pynvml.NVML_ERROR_GPU_IS_LOST
    assert indexes_lost(reader.read(now=1)) == [0, 1]
    still = reader.read(now=1 + AGAIN_SECONDS)
    assert indexes_lost(still) == [0, 1]
    assert still["gpus"][0]["name"] == "NVIDIA H200"
    assert nvml.calls["nvmlInit"] == 2
    nvml.errors.clear()
    assert indexes_lost(reader.read(now=2 * AGAIN_SECONDS)) == [0, 1]
    assert indexes_lost(reader.read(now=1 + 2 * AGAIN_SECONDS)) == []


def test_processes_are_told_with_their_holder(nvml: FakeNvml, reader: Nvml, tmp_path: Path) -> None:
    nvml.answers["nvmlDeviceGetComputeRunningProcesses_v3"] = [process(71, GIB), process(0, None)]
    folder = tmp_path / "71"
    folder.mkdir()
    (folder / "stat").write_text("71 (python3 a) b) S 1 " + " ".join(str(number) for number in range(40)))
    (folder / "cgroup").write_text("0::/system.slice/sglang.service\n")
    (folder / "cmdline").write_bytes(b"python3\0-m\0sglang.launch_server\0--api-key\0hunter2\0")
    known, foreign = reader.read(now=0)["gpus"][0]["processes"]
    assert known == {
        "pid": 71,
        "unit": "sglang.service",
        "command": "python3 -m sglang.launch_server --api-key ***",
        "user": str(folder.stat().st_uid),
        "memory_used_bytes": GIB,
    }
    assert foreign == {"pid": 0}
