"""What nvidia-smi prints, parsed. Pure. Facts: `nvidia-smi --help-query-gpu`, seen on driver 580."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from dflashtui.errors import DecodeError
from dflashtui.model.gpu import Gpu, GpuProcess
from dflashtui.source.driver_words import (
    DRIVER_NOT_LOADED,
    LIBRARY_NOT_FOUND,
    VERSION_MISMATCH,
    clocks_event_reasons,
    problem,
)
from dflashtui.text import decoded, whole_number

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from dflashtui.model.sample import GpuProblem

SOURCE = "nvidia-smi"
MIB = 1024 * 1024
FORMAT = "--format=csv,noheader,nounits"
COMPUTE_APPS = ("nvidia-smi", "--query-compute-apps=pid,used_memory,gpu_uuid,process_name", FORMAT)
BAD_FIELD = re.compile(r'Field "([^"]+)" is not a valid field to query')
NUMBER = re.compile(r"-?[0-9]{1,15}(?:\.[0-9]{1,15})?")
LOST = re.compile(r"\[?(GPU is lost|GPU requires reset|Unknown Error)\]?")
"""In place of a value: this GPU does not answer. Other words (`[N/A]`, `[Not Supported]`, `ERR!`) are of that value."""
FAILURES = {
    "couldn't communicate with the NVIDIA driver": DRIVER_NOT_LOADED,
    "couldn't find libnvidia-ml.so": LIBRARY_NOT_FOUND,
    "Driver/library version mismatch": VERSION_MISMATCH,
}


def _whole(cell: str) -> int | None:
    return int(float(cell)) if NUMBER.fullmatch(cell) else None


def _number(cell: str) -> float | None:
    return float(cell) if NUMBER.fullmatch(cell) else None


def _bytes(cell: str) -> int | None:
    mebibytes = _whole(cell)
    return None if mebibytes is None else mebibytes * MIB


def _word(cell: str) -> str | None:
    return None if not cell or cell.startswith("[") or cell in {"N/A", "ERR!"} or LOST.fullmatch(cell) else cell


def _flag(cell: str) -> bool | None:
    return {"Enabled": True, "Yes": True, "1": True, "Disabled": False, "No": False, "0": False}.get(cell)


def _state(cell: str) -> int | None:
    return _whole(cell.removeprefix("P"))


def _reasons(cell: str) -> tuple[str, ...]:
    return clocks_event_reasons(int(cell, 16)) if re.fullmatch("0x[0-9a-fA-F]+", cell) else ()


FIELDS: dict[str, tuple[str, Callable[[str], object]]] = {
    "index": ("index", _whole),
    "uuid": ("uuid", _word),
    "pci.bus_id": ("pci_bus_id", _word),
    "driver_version": ("driver_version", _word),
    "utilization.gpu": ("utilization_percent", _whole),
    "utilization.memory": ("utilization_memory_percent", _whole),
    "memory.total": ("memory_total_bytes", _bytes),
    "memory.used": ("memory_used_bytes", _bytes),
    "memory.reserved": ("memory_reserved_bytes", _bytes),
    "power.draw": ("power_watts", _number),
    "enforced.power.limit": ("power_limit_watts", _number),
    "temperature.gpu": ("temperature_celsius", _whole),
    "clocks.sm": ("clock_sm_mhz", _whole),
    "clocks.mem": ("clock_memory_mhz", _whole),
    "clocks.max.sm": ("clock_sm_max_mhz", _whole),
    "pstate": ("performance_state", _state),
    "fan.speed": ("fan_percent", _whole),
    "compute_cap": ("compute_capability", _word),
    "mig.mode.current": ("mig_enabled", _flag),
    "ecc.errors.uncorrected.volatile.total": ("ecc_uncorrected_count", _whole),
    "clocks_event_reasons.active": ("clocks_event_reasons", _reasons),
    "clocks_throttle_reasons.active": ("clocks_event_reasons", _reasons),
    "remapped_rows.uncorrectable": ("remapped_rows_uncorrectable", _whole),
    "remapped_rows.pending": ("remapped_rows_pending", _flag),
    "remapped_rows.failure": ("remapped_rows_failed", _flag),
    "name": ("name", _word),
}
"""nvidia-smi's field: the field of `Gpu`, how to read it. Older ones lack some. The name, last, may hold commas."""


class Row(NamedTuple):
    """One GPU, and the driver's version, which each row repeats."""

    gpu: Gpu
    driver_version: str | None


def gpu_query(fields: Sequence[str]) -> tuple[str, ...]:
    """The command that prints a row a GPU."""
    return ("nvidia-smi", f"--query-gpu={','.join(fields)}", FORMAT)


def refused_field(output: bytes) -> str | None:
    """The one field that nvidia-smi names as unknown: it answers none of the others then."""
    found = BAD_FIELD.search(decoded(output))
    return found[1] if found else None


def parse_row(line: bytes, fields: Sequence[str]) -> Row:
    """One line of a GPU query. Raises `DecodeError` if it is something else."""
    cells = [cell.strip() for cell in decoded(line).split(",", len(fields) - 1)]
    if len(cells) != len(fields) or _whole(cells[0]) is None:
        raise DecodeError(SOURCE, line)
    values: dict[str, object] = {}
    for name, cell in zip(fields, cells, strict=True):
        key, read = FIELDS[name]
        values[key] = read(cell)
    driver = values.pop("driver_version", None)
    lost = next((found[1] for cell in cells if (found := LOST.fullmatch(cell))), None)
    return Row(Gpu.model_validate({**values, "lost": lost}), str(driver) if driver else None)


def parse_compute_apps(output: bytes) -> dict[str, tuple[GpuProcess, ...]]:
    """Processes by the UUID of their GPU, largest first. Raises `DecodeError`."""
    found: dict[str, list[GpuProcess]] = {}
    for line in output.splitlines():
        if line.startswith((b"[", b"No running")):
            continue
        cells = [cell.strip() for cell in decoded(line).split(",", 3)]
        pid = whole_number(cells[0])
        if len(cells) != 4 or pid is None:  # noqa: PLR2004 - pid, memory, uuid, name
            raise DecodeError(SOURCE, line)
        _, used, uuid, name = cells
        process = GpuProcess(pid=pid, memory_used_bytes=_bytes(used), command=_word(name))
        found.setdefault(uuid, []).append(process)
    return {uuid: tuple(sorted(some, key=lambda one: -(one.memory_used_bytes or 0))) for uuid, some in found.items()}


def failure(output: bytes) -> tuple[GpuProblem, str]:
    """What a failed nvidia-smi means. `output`: stdout, where it complains, with stderr behind it."""
    words = " ".join(decoded(output).split())
    code = next((code for text, code in FAILURES.items() if text in words), None)
    return problem(code, words or "nvidia-smi said nothing")
