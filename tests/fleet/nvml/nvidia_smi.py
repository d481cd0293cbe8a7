"""A stand-in for nvidia-smi: the CSV queries and loop forms, answered by the same library as pynvml's calls."""

from __future__ import annotations

import argparse
import ctypes
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NoReturn

NOT_SUPPORTED, DRIVER_NOT_LOADED, LIBRARY_NOT_FOUND, GPU_IS_LOST, VERSION_MISMATCH = 3, 9, 12, 15, 18
MIB = 1024 * 1024
COMMUNICATION_FAILED = (
    "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. "
    "Make sure that the latest NVIDIA driver is installed and running.\n"
)


class NvmlError(Exception):
    """An NVML call answered with an error code."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code

    @property
    def cell(self) -> str:
        return {NOT_SUPPORTED: "[N/A]", GPU_IS_LOST: "[GPU is lost]"}.get(self.code, "[Unknown Error]")


class Memory(ctypes.Structure):
    _fields_ = (
        ("version", ctypes.c_uint),
        ("total", ctypes.c_ulonglong),
        ("reserved", ctypes.c_ulonglong),
        ("free", ctypes.c_ulonglong),
        ("used", ctypes.c_ulonglong),
    )


class Process(ctypes.Structure):
    _fields_ = (
        ("pid", ctypes.c_uint),
        ("used", ctypes.c_ulonglong),
        ("gpu_instance", ctypes.c_uint),
        ("compute_instance", ctypes.c_uint),
    )


class Nvml:
    """The calls of the library that the queries need; handles are fetched anew for each, as nvidia-smi does."""

    def __init__(self) -> None:
        self._library = ctypes.CDLL("libnvidia-ml.so.1")
        self._check(self._library.nvmlInitWithFlags(0))

    def _check(self, code: int) -> None:
        if code:
            raise NvmlError(code)

    def _handle(self, index: int) -> ctypes.c_void_p:
        handle = ctypes.c_void_p()
        self._check(self._library.nvmlDeviceGetHandleByIndex_v2(index, ctypes.byref(handle)))
        return handle

    def count(self) -> int:
        number = ctypes.c_uint()
        self._check(self._library.nvmlDeviceGetCount_v2(ctypes.byref(number)))
        return number.value

    def driver_version(self) -> str:
        text = ctypes.create_string_buffer(80)
        self._check(self._library.nvmlSystemGetDriverVersion(text, 80))
        return text.value.decode()

    def text(self, index: int, call: str) -> str:
        text = ctypes.create_string_buffer(96)
        self._check(getattr(self._library, call)(self._handle(index), text, 96))
        return text.value.decode()

    def bus_id(self, index: int) -> str:
        raw = ctypes.create_string_buffer(128)
        self._check(self._library.nvmlDeviceGetPciInfo_v3(self._handle(index), raw))
        return raw.raw[36:68].split(b"\0")[0].decode()  # after the legacy id (16) and five numbers

    def numbers(self, index: int, call: str, *arguments: int, results: int = 1) -> tuple[int, ...]:
        """The answers of a call that ends in `results` pointers to numbers of up to 64 bits."""
        found = [ctypes.c_ulonglong() for _ in range(results)]
        self._check(getattr(self._library, call)(self._handle(index), *arguments, *map(ctypes.byref, found)))
        return tuple(number.value for number in found)

    def utilization(self, index: int) -> tuple[int, int]:
        pair = (ctypes.c_uint * 2)()
        self._check(self._library.nvmlDeviceGetUtilizationRates(self._handle(index), pair))
        return pair[0], pair[1]

    def memory(self, index: int) -> Memory:
        info = Memory(version=ctypes.sizeof(Memory) | 2 << 24)
        self._check(self._library.nvmlDeviceGetMemoryInfo_v2(self._handle(index), ctypes.byref(info)))
        return info

    def processes(self, index: int) -> list[Process]:
        number, found = ctypes.c_uint(256), (Process * 256)()
        call = self._library.nvmlDeviceGetComputeRunningProcesses_v3
        self._check(call(self._handle(index), ctypes.byref(number), found))
        return list(found[: number.value])


Cell = Callable[[Nvml, int], str]


def number(call: str, *arguments: int) -> Cell:
    return lambda nvml, index: str(nvml.numbers(index, call, *arguments)[0])


def mode(call: str) -> Cell:
    return lambda nvml, index: ("Disabled", "Enabled")[nvml.numbers(index, call, results=2)[0]]


def watts(call: str) -> Cell:
    return lambda nvml, index: f"{nvml.numbers(index, call)[0] / 1000:.2f}"


def whole_mebibytes(count: int) -> str:
    """Rounded up, as nvidia-smi does: 150109880320 bytes are 143156 MiB."""
    return str(-(-count // MIB))


def mebibytes(field: str) -> Cell:
    return lambda nvml, index: whole_mebibytes(getattr(nvml.memory(index), field))


def reasons(nvml: Nvml, index: int) -> str:
    return f"0x{nvml.numbers(index, 'nvmlDeviceGetCurrentClocksEventReasons')[0]:016x}"


def capability(nvml: Nvml, index: int) -> str:
    return ".".join(map(str, nvml.numbers(index, "nvmlDeviceGetCudaComputeCapability", results=2)))


# name -> (unit shown unless nounits, how to ask)
GPU_FIELDS: dict[str, tuple[str, Cell]] = {
    "index": ("", lambda _nvml, index: str(index)),
    "count": ("", lambda nvml, _index: str(nvml.count())),
    "name": ("", lambda nvml, index: nvml.text(index, "nvmlDeviceGetName")),
    "uuid": ("", lambda nvml, index: nvml.text(index, "nvmlDeviceGetUUID")),
    "serial": ("", lambda nvml, index: nvml.text(index, "nvmlDeviceGetSerial")),
    "pci.bus_id": ("", lambda nvml, index: nvml.bus_id(index)),
    "driver_version": ("", lambda nvml, _index: nvml.driver_version()),
    "utilization.gpu": ("%", lambda nvml, index: str(nvml.utilization(index)[0])),
    "utilization.memory": ("%", lambda nvml, index: str(nvml.utilization(index)[1])),
    "memory.total": ("MiB", mebibytes("total")),
    "memory.reserved": ("MiB", mebibytes("reserved")),
    "memory.used": ("MiB", mebibytes("used")),
    "memory.free": ("MiB", mebibytes("free")),
    "power.draw": ("W", watts("nvmlDeviceGetPowerUsage")),
    "power.limit": ("W", watts("nvmlDeviceGetPowerManagementLimit")),
    "enforced.power.limit": ("W", watts("nvmlDeviceGetEnforcedPowerLimit")),
    "temperature.gpu": ("", number("nvmlDeviceGetTemperature", 0)),
    "fan.speed": ("%", number("nvmlDeviceGetFanSpeed")),
    "clocks.gr": ("MHz", number("nvmlDeviceGetClockInfo", 0)),
    "clocks.sm": ("MHz", number("nvmlDeviceGetClockInfo", 1)),
    "clocks.mem": ("MHz", number("nvmlDeviceGetClockInfo", 2)),
    "clocks.max.sm": ("MHz", number("nvmlDeviceGetMaxClockInfo", 1)),
    "clocks.max.mem": ("MHz", number("nvmlDeviceGetMaxClockInfo", 2)),
    "pstate": ("", lambda nvml, index: f"P{nvml.numbers(index, 'nvmlDeviceGetPerformanceState')[0]}"),
    "compute_cap": ("", capability),
    "mig.mode.current": ("", mode("nvmlDeviceGetMigMode")),
    "ecc.mode.current": ("", mode("nvmlDeviceGetEccMode")),
    "persistence_mode": (
        "",
        lambda nvml, index: ("Disabled", "Enabled")[nvml.numbers(index, "nvmlDeviceGetPersistenceMode")[0]],
    ),
    "ecc.errors.corrected.volatile.total": ("", number("nvmlDeviceGetTotalEccErrors", 0, 0)),
    "ecc.errors.uncorrected.volatile.total": ("", number("nvmlDeviceGetTotalEccErrors", 1, 0)),
    "clocks_event_reasons.active": ("", reasons),
    "timestamp": ("", lambda _nvml, _index: time.strftime("%Y/%m/%d %H:%M:%S.000")),
}
ALIASES = {
    "gpu_uuid": "uuid",
    "gpu_name": "name",
    "gpu_bus_id": "pci.bus_id",
    "clocks.current.sm": "clocks.sm",
    "clocks.current.memory": "clocks.mem",
    "clocks.current.graphics": "clocks.gr",
    "power.draw.instant": "power.draw",
    "clocks_throttle_reasons.active": "clocks_event_reasons.active",
    "clocks.max.memory": "clocks.max.mem",
}
PROCESS_FIELDS = ("pid", "process_name", "name", "used_memory", "used_gpu_memory")
UNITS = {"used_memory": "MiB", "used_gpu_memory": "MiB"}


def canonical(field: str) -> str:
    return ALIASES.get(field, field)


def process_name(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")[0].decode(errors="replace") or "[Not Found]"
    except OSError:
        return "[Not Found]"


def gpu_cell(nvml: Nvml, index: int, field: str) -> str:
    try:
        return GPU_FIELDS[canonical(field)][1](nvml, index)
    except NvmlError as error:
        return error.cell


def process_cell(nvml: Nvml, index: int, process: Process, field: str) -> str:
    if field == "pid":
        return str(process.pid)
    if field in {"process_name", "name"}:
        return process_name(process.pid)
    if field in UNITS:
        return whole_mebibytes(process.used)
    return gpu_cell(nvml, index, field)


def with_unit(cell: str, unit: str, *, plain: bool) -> str:
    return cell if plain or not unit or cell.startswith("[") else f"{cell} {unit}"


def gpu_rows(nvml: Nvml, fields: list[str], indexes: list[int], *, plain: bool) -> Iterator[list[str]]:
    for index in indexes:
        yield [
            with_unit(gpu_cell(nvml, index, field), GPU_FIELDS[canonical(field)][0], plain=plain) for field in fields
        ]


def process_rows(nvml: Nvml, fields: list[str], indexes: list[int], *, plain: bool) -> Iterator[list[str]]:
    for index in indexes:
        try:
            found = nvml.processes(index)
        except NvmlError:
            continue
        for process in found:
            yield [
                with_unit(process_cell(nvml, index, process, field), UNITS.get(field, ""), plain=plain)
                for field in fields
            ]


def say(line: str) -> None:
    sys.stdout.write(line + "\n")


def fail(text: str, code: int) -> NoReturn:
    sys.stdout.write(text)
    raise SystemExit(code)


def open_library() -> Nvml:
    try:
        return Nvml()
    except OSError:
        fail("NVIDIA-SMI couldn't find libnvidia-ml.so library in your system.\n", LIBRARY_NOT_FOUND)
    except NvmlError as error:
        if error.code == VERSION_MISMATCH:
            fail("Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 580.159\n", 18)
        fail(COMMUNICATION_FAILED, error.code)


def wanted_fields(text: str, *, processes: bool) -> list[str]:
    fields = [field.strip() for field in text.split(",")]
    for field in fields:
        if canonical(field) not in GPU_FIELDS and not (processes and field in PROCESS_FIELDS):
            fail(f'Field "{field}" is not a valid field to query.\n\n', 2)
    return fields


def header(fields: list[str], *, plain: bool) -> str:
    units = {name: unit for name, (unit, _) in GPU_FIELDS.items()} | UNITS
    return ", ".join(
        field if plain or not units.get(canonical(field)) else f"{field} [{units[canonical(field)]}]"
        for field in fields
    )


def query(options: argparse.Namespace) -> None:
    processes = options.query_compute_apps is not None
    fields = wanted_fields(options.query_compute_apps if processes else options.query_gpu, processes=processes)
    nvml, form = open_library(), options.format.split(",")
    plain = "nounits" in form
    indexes = [int(part) for part in options.id.split(",")] if options.id else list(range(nvml.count()))
    interval = options.loop_ms / 1000 if options.loop_ms else options.loop
    if "noheader" not in form:
        say(header(fields, plain=plain))
    while True:
        rows = process_rows if processes else gpu_rows
        for row in rows(nvml, fields, indexes, plain=plain):
            say(", ".join(row))
        sys.stdout.flush()
        if not interval:
            return
        time.sleep(interval)


def list_gpus() -> None:
    nvml = open_library()
    for index in range(nvml.count()):
        say(f"GPU {index}: {gpu_cell(nvml, index, 'name')} (UUID: {gpu_cell(nvml, index, 'uuid')})")


def parser() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(prog="nvidia-smi", allow_abbrev=False)
    options.add_argument("-L", "--list-gpus", action="store_true")
    options.add_argument("--query-gpu")
    options.add_argument("--query-compute-apps")
    options.add_argument("--format", default="csv")
    options.add_argument("-i", "--id")
    options.add_argument("-l", "--loop", type=float, default=0)
    options.add_argument("-lms", "--loop-ms", type=float, default=0)
    return options


def main() -> None:
    options = parser().parse_args()
    try:
        if options.query_gpu or options.query_compute_apps:
            query(options)
        else:
            list_gpus()
    except KeyboardInterrupt:
        raise SystemExit(130) from None


if __name__ == "__main__":
    main()
