from types import SimpleNamespace

import pynvml
import pytest

from dflashtui.model.gpu import Gpu
from dflashtui.sampler.card import SLOW_SECONDS, Card
from dflashtui.source.driver_words import clocks_event_reasons
from tests.unit.nvml_fake import GIB, FakeNvml, process


def test_every_value_of_an_h200_becomes_a_field_of_the_model() -> None:
    found = Card(FakeNvml(), 3).read(now=0)
    gpu = Gpu.model_validate({**found, "processes": (), "clocks_event_reasons": clocks_event_reasons(4)})
    assert gpu == Gpu(
        index=3,
        uuid="GPU-00000000-0000-4000-8000-000000000001",
        name="NVIDIA H200",
        pci_bus_id="00000000:3B:00.0",
        utilization_percent=99,
        utilization_memory_percent=24,
        memory_used_bytes=40 * GIB,
        memory_reserved_bytes=GIB,
        memory_total_bytes=140 * GIB,
        power_watts=690.994,
        power_limit_watts=700.0,
        temperature_celsius=59,
        temperature_slowdown_celsius=89,
        clock_sm_mhz=1470,
        clock_memory_mhz=1470,
        clock_sm_max_mhz=1980,
        performance_state=0,
        clocks_event_reasons=("sw_power_cap",),
        ecc_uncorrected_count=0,
        remapped_rows_uncorrectable=2,
        remapped_rows_pending=True,
        remapped_rows_failed=False,
        mig_enabled=False,
        compute_capability="9.0",
        processes=(),
    )


def test_what_is_not_supported_is_asked_once() -> None:
    nvml = FakeNvml()
    card = Card(nvml, 0)
    for second in range(200):
        assert "fan_percent" not in card.read(now=second)
    assert nvml.calls["nvmlDeviceGetFanSpeed"] == 1
    assert nvml.calls["nvmlDeviceGetPowerUsage"] == 200


def test_slow_values_are_asked_rarely_and_stay_in_every_reading() -> None:
    nvml = FakeNvml()
    card = Card(nvml, 0)
    nvml.answers["nvmlDeviceGetTotalEccErrors"] = 0
    card.read(now=0)
    nvml.answers["nvmlDeviceGetTotalEccErrors"] = 7
    assert card.read(now=SLOW_SECONDS - 1)["ecc_uncorrected_count"] == 0
    assert card.read(now=SLOW_SECONDS)["ecc_uncorrected_count"] == 7
    assert nvml.calls["nvmlDeviceGetTotalEccErrors"] == 2


@pytest.mark.parametrize("code", [pynvml.NVML_ERROR_GPU_IS_LOST, pynvml.NVML_ERROR_RESET_REQUIRED])
def test_a_lost_gpu_keeps_its_name_and_says_the_drivers_words(code: int) -> None:
    nvml = FakeNvml(nvmlErrorString=b"GPU is lost, says the driver")
    card = Card(nvml, 0)
    card.read(now=0)
    nvml.errors["nvmlDeviceGetClockInfo"] = code
    assert card.read(now=1) == {
        "index": 0,
        "uuid": "GPU-00000000-0000-4000-8000-000000000001",
        "name": "NVIDIA H200",
        "pci_bus_id": "00000000:3B:00.0",
        "lost": "GPU is lost, says the driver",
    }


def test_a_lost_gpu_is_left_in_peace() -> None:
    nvml = FakeNvml()
    nvml.errors["nvmlDeviceGetHandleByIndex"] = pynvml.NVML_ERROR_UNKNOWN
    card = Card(nvml, 0)
    assert card.read(now=0) == {"index": 0, "lost": "Unknown Error"}
    assert card.read(now=1) == {"index": 0, "lost": "Unknown Error"}
    assert nvml.calls["nvmlDeviceGetHandleByIndex"] == 1


@pytest.mark.parametrize(
    ("call", "is_lost"), [("nvmlDeviceGetMemoryInfo", True), ("nvmlDeviceGetCurrentClocksEventReasons", False)]
)
def test_an_unknown_error_means_a_lost_gpu_only_where_every_gpu_must_answer(call: str, *, is_lost: bool) -> None:
    nvml = FakeNvml()
    nvml.errors[call] = pynvml.NVML_ERROR_UNKNOWN
    assert ("lost" in Card(nvml, 0).read(now=0)) is is_lost


def test_an_error_of_the_moment_costs_one_value_once() -> None:
    nvml = FakeNvml()
    card = Card(nvml, 0)
    nvml.errors["nvmlDeviceGetPowerUsage"] = pynvml.NVML_ERROR_TIMEOUT
    assert "power_watts" not in card.read(now=0)
    nvml.errors.clear()
    assert card.read(now=1)["power_watts"] == 690.994


def test_an_old_driver_is_asked_by_the_older_calls() -> None:
    nvml = FakeNvml(
        nvmlDeviceGetTemperature=41,
        nvmlDeviceGetCurrentClocksThrottleReasons=1,
        nvmlDeviceGetComputeRunningProcesses_v2=[process(7, GIB)],
    )
    for call in (
        "nvmlDeviceGetTemperatureV",
        "nvmlDeviceGetCurrentClocksEventReasons",
        "nvmlDeviceGetComputeRunningProcesses_v3",
    ):
        nvml.errors[call] = pynvml.NVML_ERROR_FUNCTION_NOT_FOUND
    found = Card(nvml, 0).read(now=0)
    assert (found["temperature_celsius"], found["clocks_event_reasons"]) == (41, 1)
    assert found["processes"] == [[7, GIB]]


def test_memory_of_a_driver_without_the_second_form_has_no_reserve() -> None:
    class OldNvml(FakeNvml):
        def _call(self, name: str, *arguments: object) -> object:
            if name == "nvmlDeviceGetMemoryInfo" and arguments[1:]:
                raise pynvml.NVMLError(pynvml.NVML_ERROR_FUNCTION_NOT_FOUND)
            return super()._call(name, *arguments)

    found = Card(OldNvml(nvmlDeviceGetMemoryInfo=SimpleNamespace(total=9, used=8)), 0).read(now=0)
    assert (found["memory_used_bytes"], found["memory_total_bytes"]) == (8, 9)
    assert "memory_reserved_bytes" not in found


def test_processes_of_an_mps_server_are_counted_once_and_an_unknown_size_stays_unknown() -> None:
    nvml = FakeNvml(
        nvmlDeviceGetComputeRunningProcesses_v3=[process(1, None), process(2, 5)],
        nvmlDeviceGetMPSComputeRunningProcesses_v3=[process(2, 5), process(3, 9)],
    )
    assert Card(nvml, 0).read(now=0)["processes"] == [[3, 9], [2, 5], [1, None]]


def test_unreadable_processes_are_not_no_processes() -> None:
    nvml = FakeNvml()
    nvml.errors["nvmlDeviceGetComputeRunningProcesses_v3"] = pynvml.NVML_ERROR_NO_PERMISSION
    assert "processes" not in Card(nvml, 0).read(now=0)


def test_an_unknown_performance_state_is_none() -> None:
    nvml = FakeNvml(nvmlDeviceGetPerformanceState=pynvml.NVML_PSTATE_UNKNOWN)
    assert "performance_state" not in Card(nvml, 0).read(now=0)
