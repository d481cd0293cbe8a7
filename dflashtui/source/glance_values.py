"""What the parts of a glance mean. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from dflashtui.errors import DecodeError, NoSystemd, SourceUnavailable
from dflashtui.model.sample import GpuProblem
from dflashtui.source import nvidia_smi
from dflashtui.source.glance import GPU_FIELDS, Part
from dflashtui.source.proc_files import held
from dflashtui.source.systemd_names import full_pattern, matches
from dflashtui.source.systemd_show import blocks, typed
from dflashtui.source.systemd_values import major_version, unit_status
from dflashtui.text import decoded

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dflashtui.model.gpu import Gpu, GpuProcess
    from dflashtui.model.unit import UnitStatus

NOTHING = Part(b"", None)
COMMAND_NOT_FOUND = 127
NOT_BOOTED = b"not been booted with systemd"


@dataclass(frozen=True, slots=True)
class Gpus:
    """The GPUs of a host, or why there are none to tell of."""

    gpus: tuple[Gpu, ...] | None = None
    driver_version: str | None = None
    problem: str | None = None
    is_absent: bool = False


def boot_and_clock(parts: Mapping[str, Part]) -> tuple[str | None, datetime | None]:
    """The boot id and the host's clock; `None` for what it did not say."""
    lines = decoded(parts.get("host", NOTHING).text).split()
    try:
        return lines[0], datetime.fromtimestamp(float(lines[1]), UTC)
    except (IndexError, ValueError, OverflowError):
        return None, None


def systemd_version(parts: Mapping[str, Part], host: str) -> int | None:
    """`252`. Raises `NoSystemd`, `SourceUnavailable`."""
    part = parts.get("manager", NOTHING)
    if part.exit_status == COMMAND_NOT_FOUND or NOT_BOOTED in part.text:
        raise NoSystemd(host, "units", f"there is no running systemd: {part.words}")
    if part.exit_status != 0:
        raise SourceUnavailable(host, "units", f"systemctl: {part.words}")
    return major_version(part.words.removeprefix("Version="))


def units(parts: Mapping[str, Part], host: str, patterns: Sequence[str]) -> tuple[UnitStatus, ...]:
    """Watched units, each once, by pattern, then by name. Raises `SourceUnavailable`, `DecodeError`."""
    part = parts.get("units", NOTHING)
    if part.exit_status != 0:
        raise SourceUnavailable(host, "units", f"systemctl show: {part.words}")
    found = {unit.name: unit for unit in map(unit_status, map(typed, blocks(part.text))) if unit.name}
    wanted = [full_pattern(pattern) for pattern in patterns]

    def place(unit: UnitStatus) -> tuple[int, str]:
        names = (unit.name, *unit.aliases)
        ranks = [rank for rank, pattern in enumerate(wanted) if any(matches(pattern, name) for name in names)]
        return min(ranks, default=len(wanted)), unit.name

    return tuple(sorted(found.values(), key=place))


def gpus(parts: Mapping[str, Part]) -> Gpus:
    """The GPUs with their processes."""
    part = parts.get("gpus", NOTHING)
    if part.exit_status == COMMAND_NOT_FOUND:
        return Gpus(problem="no NVIDIA driver is installed here", is_absent=True)
    try:
        rows = [nvidia_smi.parse_row(line, GPU_FIELDS) for line in part.text.splitlines() if line.strip()]
    except DecodeError:
        rows = []
    if part.exit_status != 0 or not rows:
        kind, words = nvidia_smi.failure(part.text)
        return Gpus(problem=words, is_absent=kind is GpuProblem.NO_DRIVER)
    processes = _processes(parts)
    cards = tuple(
        row.gpu.model_copy(update={"processes": None if processes is None else processes.get(row.gpu.uuid or "", ())})
        for row in rows
    )
    return Gpus(gpus=cards, driver_version=rows[0].driver_version)


def _processes(parts: Mapping[str, Part]) -> dict[str, tuple[GpuProcess, ...]] | None:
    part = parts.get("processes", NOTHING)
    if part.exit_status != 0:
        return None
    try:
        found = nvidia_smi.parse_compute_apps(part.text)
    except DecodeError:
        return None
    return held(found, parts.get("cgroup", NOTHING).text, parts.get("cmdline", NOTHING).text)
