"""The NVML stand-in: building it, its state file, and what a test changes in it."""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from .compiled import compiled

SOURCES = Path(__file__).parent.parent / "nvml"
STATE = Path("run/fake-nvml/state")
BOOT_STATE = Path("usr/share/fake-nvml/state")
LIBRARY = Path(f"usr/lib/{os.uname().machine}-linux-gnu/libnvidia-ml.so.1")
COPY_AT_BOOT = f"d /run/fake-nvml 0755\nC /{STATE} 0644 - - - /{BOOT_STATE}\n"
GPU_COUNT = 8


def library() -> Path:
    """The shared library, compiled once for each text of its sources."""
    return compiled("libnvidia-ml", SOURCES, "-fPIC", "-shared", "-pthread")


def program() -> Path:
    """The nvidia-smi over that library, likewise."""
    return compiled("nvidia-smi", SOURCES / "nvidia-smi")


def install(root: Path, position: int) -> None:
    """Give a host eight GPUs; the state returns to its defaults at each boot, as a driver's would."""
    for folder in (LIBRARY.parent, BOOT_STATE.parent):
        (root / folder).mkdir(parents=True, exist_ok=True)
    shutil.copy(library(), root / LIBRARY)
    shutil.copy(program(), root / "usr/bin/nvidia-smi")
    (root / BOOT_STATE).write_text(default_state(position))
    (root / "etc/tmpfiles.d/fake-nvml.conf").write_text(COPY_AT_BOOT)


def default_state(position: int) -> str:
    """The recorded values of an H200, and for each GPU its own identity."""
    identities = "".join(
        f"gpu.{index}.uuid GPU-00000000-0000-4000-8000-{position + 1:08d}{index + 1:04d}\n"
        f"gpu.{index}.pci_bus_id 00000000:{0x10 * position + index + 6:02X}:00.0\n"
        for index in range(GPU_COUNT)
    )
    return (SOURCES / "h200.state").read_text() + identities


def with_values(text: str, prefix: str, values: Mapping[str, object]) -> str:
    """The state with each "PREFIX KEY" replaced; None takes it out, so that the default of "gpu.*" holds again."""
    keys = {prefix + key for key in values}
    kept = [line for line in text.splitlines() if line.split(" ", 1)[0] not in keys]
    added = [f"{prefix}{key} {_word(value)}" for key, value in values.items() if value is not None]
    return "\n".join([*kept, *added]) + "\n"


def _word(value: object) -> str:
    return str(int(value)) if isinstance(value, bool) else str(value)


def with_process(text: str, index: int, line: str) -> str:
    """The state with one more process line of a GPU."""
    return f"{text.rstrip()}\ngpu.{index}.{line}\n"


def without_processes(text: str, index: int) -> str:
    prefixes = (f"gpu.{index}.process ", f"gpu.{index}.cgroup ")
    return "".join(f"{line}\n" for line in text.splitlines() if not line.startswith(prefixes))


def unit_cgroup(unit: str) -> str:
    """Where the system manager keeps a service's processes; instances of a template have a slice of their own."""
    prefix, at, _ = unit.partition("@")
    escaped = prefix.replace("-", r"\x2d")
    slice_name = f"system-{escaped}.slice/" if at else ""
    return f"system.slice/{slice_name}{unit}"
