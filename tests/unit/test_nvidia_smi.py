from pathlib import Path

import pytest

from dflashtui.errors import DecodeError
from dflashtui.model.gpu import Gpu, GpuProcess
from dflashtui.model.sample import GpuProblem
from dflashtui.source.nvidia_smi import FIELDS, failure, parse_compute_apps, parse_row, refused_field

DATA = Path(__file__).parent.parent / "data/nvml"
MIB = 2**20


def test_the_row_of_a_real_h200() -> None:
    row = parse_row((DATA / "h200-smi-gpus.csv").read_bytes().rstrip(), tuple(FIELDS))
    assert row.driver_version == "580.159.04"
    assert row.gpu == Gpu(
        index=0,
        uuid="GPU-00000000-0000-4000-8000-000000000001",
        name="NVIDIA H200",
        pci_bus_id="00000000:00:06.0",
        utilization_percent=0,
        utilization_memory_percent=0,
        memory_used_bytes=3599 * MIB,
        memory_reserved_bytes=616 * MIB,
        memory_total_bytes=143771 * MIB,
        power_watts=122.03,
        power_limit_watts=700.0,
        temperature_celsius=38,
        clock_sm_mhz=1980,
        clock_memory_mhz=3201,
        clock_sm_max_mhz=1980,
        performance_state=0,
        ecc_uncorrected_count=0,
        remapped_rows_uncorrectable=0,
        remapped_rows_pending=False,
        remapped_rows_failed=False,
        mig_enabled=False,
        compute_capability="9.0",
    )


@pytest.mark.parametrize("cell", ["[N/A]", "[Not Supported]", "ERR!", "N/A", "", "[Insufficient Permissions]", "7 %"])
def test_a_word_in_place_of_a_number_is_unknown(cell: str) -> None:
    fields = ("index", "utilization.gpu", "power.draw", "memory.used", "pstate", "mig.mode.current")
    gpu = parse_row(b"3, " + b", ".join([cell.encode()] * 5), fields).gpu
    assert gpu == Gpu(index=3)


@pytest.mark.parametrize("words", ["[GPU requires reset]", "[GPU is lost]", "GPU is lost", "[Unknown Error]"])
def test_a_gpu_that_does_not_answer_is_lost_in_the_drivers_words(words: str) -> None:
    gpu = parse_row(f"2, {words}, {words}".encode(), ("index", "power.draw", "uuid")).gpu
    assert (gpu.lost, gpu.power_watts, gpu.uuid) == (words.strip("[]"), None, None)


def test_clocks_event_reasons_and_a_name_with_commas() -> None:
    gpu = parse_row(b"0, 0x0000000000000044, A, B, C", ("index", "clocks_event_reasons.active", "name")).gpu
    assert gpu.clocks_event_reasons == ("sw_power_cap", "hw_thermal_slowdown")
    assert gpu.name == "A, B, C"


@pytest.mark.parametrize("line", [b"", b"0", b"Unable to determine the device handle for GPU0000:41:00.0", b"x, 1, 2"])
def test_a_line_that_is_no_row_is_a_decode_error(line: bytes) -> None:
    with pytest.raises(DecodeError):
        parse_row(line, ("index", "uuid", "power.draw"))


def test_the_field_that_nvidia_smi_refuses() -> None:
    assert refused_field((DATA / "smi-bad-field.txt").read_bytes()) == "no.such"
    assert refused_field(b"NVIDIA-SMI has failed") is None


def test_processes_by_gpu() -> None:
    assert parse_compute_apps((DATA / "h200-smi-compute-apps.csv").read_bytes()) == {
        "GPU-00000000-0000-4000-8000-000000000001": (
            GpuProcess(pid=689, memory_used_bytes=3590 * MIB, command="python3"),
        )
    }


def test_processes_largest_first_and_an_unknown_size_stays_unknown() -> None:
    found = parse_compute_apps(b"1, [N/A], GPU-a, [Not Found]\n2, 9, GPU-a, /bin/x, y\n[Not Supported]\n")
    assert found == {
        "GPU-a": (GpuProcess(pid=2, memory_used_bytes=9 * MIB, command="/bin/x, y"), GpuProcess(pid=1)),
    }
    assert parse_compute_apps(b"") == {}


def test_other_words_in_the_list_of_processes_are_a_decode_error() -> None:
    with pytest.raises(DecodeError):
        parse_compute_apps(b"something went wrong\n")


@pytest.mark.parametrize(
    ("output", "kind"),
    [
        (b"NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make", GpuProblem.NO_DRIVER),
        (b"NVIDIA-SMI couldn't find libnvidia-ml.so library in your system.", GpuProblem.NO_DRIVER),
        (b"Failed to initialize NVML: Driver/library version mismatch\nNVML library", GpuProblem.MISMATCH),
        (b"Unable to determine the device handle for GPU0000:41:00.0: GPU is lost.", GpuProblem.OTHER),
        (b"", GpuProblem.OTHER),
    ],
)
def test_a_failure_in_its_own_words(output: bytes, kind: GpuProblem) -> None:
    found, words = failure(output)
    assert found is kind
    assert (output.decode().split() or ["nvidia-smi"])[0] in words
