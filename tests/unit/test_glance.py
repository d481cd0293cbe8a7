"""One command's output becomes the values of a host; what is missing is said, not guessed."""

from pathlib import Path

import pytest

from dflashtui.errors import DecodeError, NoSystemd, SourceUnavailable
from dflashtui.model.unit import ActiveState, LoadState
from dflashtui.source import glance_values as values
from dflashtui.source.glance import GPU_FIELDS, Part, parts

DATA = Path(__file__).parents[1] / "data" / "glance"
PATTERNS = ("nope.service", "sglang-*.service", "counter")
MARK = b"==mark"


def recorded(name: str) -> dict[str, Part]:
    return parts((DATA / name).read_bytes(), MARK)


def row(**cells: str) -> bytes:
    return ", ".join(cells.get(field.replace(".", "_"), "0") for field in GPU_FIELDS).encode()


def test_a_real_host_with_gpus() -> None:
    found = recorded("252-gpus.txt")
    boot_id, clock = values.boot_and_clock(found)
    assert boot_id == "51b9ec66-e186-4c32-ad75-e19a544ec339"
    assert clock is not None
    assert values.systemd_version(found, "h") == 252
    gpus = values.gpus(found)
    assert [gpu.index for gpu in gpus.gpus or ()] == list(range(8))
    assert gpus.gpus is not None
    assert (gpus.gpus[0].name, gpus.gpus[0].processes, gpus.driver_version) == ("NVIDIA H200", (), "580.159.04")


def test_units_come_each_once_in_the_order_of_the_patterns() -> None:
    units = values.units(recorded("252-gpus.txt"), "h", PATTERNS)
    assert [unit.name for unit in units] == [
        "nope.service",
        "sglang-import-error.service",
        "sglang-loop.service",
        "sglang-ok.service",
        "counter.service",
    ]
    by_name = {unit.name: unit for unit in units}
    assert by_name["nope.service"].load_state is LoadState.NOT_FOUND
    assert by_name["sglang-import-error.service"].active_state is ActiveState.FAILED
    assert by_name["sglang-import-error.service"].exec_main_status == 1
    assert by_name["counter.service"].active_state is ActiveState.INACTIVE


def test_a_host_without_a_driver_has_none_to_tell_of() -> None:
    gpus = values.gpus(recorded("252-no-driver.txt"))
    assert (gpus.gpus, gpus.is_absent) == (None, True)


@pytest.mark.parametrize(
    ("text", "status", "absent", "words"),
    [
        (b"Failed to initialize NVML: Driver/library version mismatch\n", 18, False, "mismatch"),
        (b"NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\n", 9, True, "not loaded"),
        (b"", 0, False, "nvidia-smi said nothing"),
        (b"rubbish\n", 0, False, "rubbish"),
    ],
)
def test_a_driver_that_cannot_be_asked(text: bytes, status: int, words: str, *, absent: bool) -> None:
    gpus = values.gpus({"gpus": Part(text, status)})
    assert (gpus.gpus, gpus.is_absent) == (None, absent)
    assert words in str(gpus.problem)


def test_processes_are_named_by_unit() -> None:
    found = {
        "gpus": Part(row(uuid="GPU-1", name="H200"), 0),
        "processes": Part(b"471, 54000, GPU-1, python3\n", 0),
        "cgroup": Part(b"/proc/471/cgroup:0::/system.slice/sglang-a.service\n", 0),
        "cmdline": Part(b"/proc/471/cmdline:python3\0/proc/471/cmdline:-m\0/proc/471/cmdline:sglang\0", 0),
    }
    (gpu,) = values.gpus(found).gpus or ()
    (process,) = gpu.processes or ()
    assert (process.pid, process.unit, process.command) == (471, "sglang-a.service", "python3 -m sglang")


def test_processes_that_cannot_be_read_are_unknown_not_none() -> None:
    found = {"gpus": Part(row(uuid="GPU-1"), 0), "processes": Part(b"[Insufficient Permissions]", 4)}
    (gpu,) = values.gpus(found).gpus or ()
    assert gpu.processes is None


def test_no_systemd_is_told_from_a_manager_in_trouble() -> None:
    offline = b"System has not been booted with systemd as init system (PID 1). Can't operate.\n"
    for part in (Part(offline, 1), Part(b"sh: 1: systemctl: not found\n", 127)):
        with pytest.raises(NoSystemd):
            values.systemd_version({"manager": part}, "h")
    with pytest.raises(SourceUnavailable, match="timed out"):
        values.systemd_version({"manager": Part(b"Failed: Connection timed out\n", 1)}, "h")


def test_output_without_a_mark_is_not_read() -> None:
    with pytest.raises(DecodeError):
        parts(b"hello from a login shell\n", MARK)


def test_a_part_that_was_cut_off_has_no_status() -> None:
    whole = (DATA / "252-gpus.txt").read_bytes()
    for end in range(whole.index(MARK) + 20, len(whole), 97):
        found = parts(whole[:end], MARK)
        assert next(reversed(found.values())).exit_status in {None, 0}
        assert values.gpus(found).gpus is None or len(values.gpus(found).gpus or ()) == 8
