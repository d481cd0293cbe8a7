"""Advice about GPUs and models."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from dflashtui.unitfile.look import Advice, at

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dflashtui.unitfile.look import Look

INDEXES = re.compile(r"[0-9]+(?:,[0-9]+)*\Z")
SHM_PATH = re.compile(r"/dev/shm/[^\s\"',:;{}\[\]]+")  # noqa: S108 - models stand there
CHECKED = ("PathExists", "PathIsDirectory", "FileNotEmpty", "DirectoryNotEmpty", "PathExistsGlob")


def pinning(look: Look) -> Iterator[Advice]:
    """GPUs by index: which card that is depends on the order, and on which cards are alive."""
    visible = look.variables.get("CUDA_VISIBLE_DEVICES")
    if visible is None or not INDEXES.match(visible.value):
        return
    if "CUDA_DEVICE_ORDER" not in look.variables:
        message = "GPU by index without CUDA_DEVICE_ORDER: CUDA counts the fastest first, nvidia-smi by bus"
        yield at(visible.entry, "gpu-order", "warning", message, "Environment=CUDA_DEVICE_ORDER=PCI_BUS_ID")
    message = "GPU by index: when a card is lost, the indexes behind it move, and this unit takes another's GPU"
    yield at(visible.entry, "gpu-by-index", "note", message, "write the UUID that `nvidia-smi -L` prints")
    yield from _base(look, len(visible.value.split(",")))


def _base(look: Look, visible: int) -> Iterator[Advice]:
    """`--base-gpu-id` counts within what is visible."""
    for command in look.starts:
        argv = command.argv
        if "--base-gpu-id" in argv[:-1] and argv[argv.index("--base-gpu-id") + 1].isdecimal():
            base = int(argv[argv.index("--base-gpu-id") + 1])
            if base >= visible:
                message = f"--base-gpu-id {base} counts within CUDA_VISIBLE_DEVICES, which shows {visible}"
                entry = look.unit.last("Service", "ExecStart")
                yield at(entry, "base-gpu-id", "error", message, "leave --base-gpu-id out")


def memory_files(look: Look) -> Iterator[Advice]:
    """A model in /dev/shm is gone after a reboot."""
    checks = [
        entry
        for word in ("Assert", "Condition")
        for test in CHECKED
        for entry in look.unit.all("Unit", f"{word}{test}")
    ]
    texts = [(entry, entry.value) for entry in look.unit.all("Service", "ExecStart")]
    texts += [(each.entry, each.value) for each in look.environment]
    for entry, text in texts:
        for path in dict.fromkeys(SHM_PATH.findall(text)):
            if not any(check.value.lstrip("|!").startswith(path.rstrip("/")) for check in checks):
                message = f"{path} is gone after a reboot, and then is taken for the name of a model to download"
                yield at(entry, "shm-unchecked", "warning", message, f"[Unit] AssertPathExists={path}")


def conditions(look: Look) -> Iterator[Advice]:
    """A condition that fails skips the start in silence."""
    for test in CHECKED:
        for entry in look.unit.all("Unit", f"Condition{test}"):
            message = f"{entry.key}= skips the start in silence where it does not hold: the unit is just not there"
            yield at(entry, "condition-skips", "note", message, f"Assert{test}= fails the start, and says why")


def limits(look: Look) -> Iterator[Advice]:
    """Memory that is pinned for the GPU."""
    if look.engine and look.unit.last("Service", "LimitMEMLOCK") is None:
        message = "memory that may be locked is 8 MiB by default: pinned host memory and NCCL need more"
        yield at(None, "memlock", "note", message, "LimitMEMLOCK=infinity")


RULES = (pinning, memory_files, conditions, limits)
