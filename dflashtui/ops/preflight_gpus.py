"""Preflight: the unit's GPUs are there, healthy, free, and nobody else's."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from dflashtui.ops.preflight_asking import finding
from dflashtui.text import human_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from dflashtui.model.gpu import Gpu, GpuProcess
    from dflashtui.model.preflight import PreflightFinding
    from dflashtui.ops.preflight_question import Question

VISIBLE = "CUDA_VISIBLE_DEVICES"
NONE_VISIBLE = frozenset({"", "-1", "NoDevFiles"})
VLLM_SHARE = 0.9
"""The default of `--gpu-memory-utilization`."""
SMALL_BYTES = 512 << 20
"""A context without a model; less of a GPU's memory is in nobody's way."""


async def check(question: Question) -> Sequence[PreflightFinding]:
    """By the sample that was taken at the beginning."""
    wanted = wanted_gpus(question)
    sample = question.gpu_sample
    if (not wanted and question.unit.engine in {"none", "openai"}) or "cpu" in _devices(question):
        return []
    if sample is None:
        return [finding(question, "gpus:unknown", "unknown", "the GPUs cannot be read: no python3 and no nvidia-smi")]
    if sample.gpus is None:
        message = f"the GPUs cannot be used: {sample.gpu_problem or 'the driver gives no answer'}"
        return [finding(question, "gpus:driver", "fatal", message, remedy="see to the driver first")]
    return [*_each(question, wanted, sample.gpus), *_pinned_twice(question, sample.gpus)]


def _devices(question: Question) -> set[str]:
    """What `--device` says: both engines run on a CPU if they are told to."""
    return {value for flag, value in _pairs(question) if flag == "--device"}


def _pairs(question: Question) -> list[tuple[str, str]]:
    """Options with what stands behind them, after a blank or after `=`."""
    joined = [word.partition("=")[::2] for word in question.argv if word.startswith("--") and "=" in word]
    return [*pairwise(question.argv), *joined]


def wanted_gpus(question: Question) -> tuple[str, ...]:
    """What the unit pins: indexes or UUIDs; none: every GPU is its own."""
    visible = question.environment.get(VISIBLE)
    if visible is not None:
        return tuple(part.strip() for part in visible.split(",") if part.strip())
    return tuple(map(str, question.unit.gpus))


def own_gpus(question: Question) -> tuple[Gpu, ...]:
    """Those of the unit that exist."""
    sample = question.gpu_sample
    gpus = (sample.gpus if sample else None) or ()
    wanted = wanted_gpus(question)
    return tuple(found for one in wanted if (found := named(one, gpus))) if wanted else gpus


def named(wanted: str, gpus: Sequence[Gpu]) -> Gpu | None:
    """The GPU of an index or a UUID, which CUDA takes shortened too."""
    if wanted.isdecimal():
        return next((gpu for gpu in gpus if gpu.index == int(wanted)), None)
    return next((gpu for gpu in gpus if gpu.uuid and gpu.uuid.startswith(wanted)), None)


def _each(question: Question, wanted: Sequence[str], gpus: Sequence[Gpu]) -> Iterator[PreflightFinding]:
    if set(wanted) & NONE_VISIBLE:
        yield finding(question, "gpus:hidden", "fatal", f"{VISIBLE} hides every GPU", remedy="name the unit's GPUs")
        return
    if not gpus:
        yield finding(question, "gpus:none", "fatal", "the host has no GPU")
    for one in wanted:
        gpu = named(one, gpus)
        if gpu is None and not one.startswith("MIG-"):
            known = ", ".join(f"{each.index} ({each.uuid})" for each in gpus)
            message = f"GPU {one} is not there: CUDA hides it, and every one named behind it"
            yield finding(question, f"gpus:missing:{one}", "fatal", message, f"there are {known}")
    for gpu in own_gpus(question):
        yield from _health(question, gpu)
        yield from _holders(question, gpu)
        yield from _share(question, gpu)


def _share(question: Question, gpu: Gpu) -> Iterator[PreflightFinding]:
    """A share of all memory, for which vLLM asks at its start: it ends if that much is not free."""
    free = free_bytes(gpu, question.unit.name)
    if not any("vllm" in word for word in question.argv[:4]) or free is None or gpu.memory_total_bytes is None:
        return
    written = next((value for flag, value in _pairs(question) if flag == "--gpu-memory-utilization"), None)
    try:
        share = float(written) if written else VLLM_SHARE
    except ValueError:
        return
    if free < share * gpu.memory_total_bytes:
        wanted = f"{human_bytes(round(share * gpu.memory_total_bytes))} (a share of {share:g})"
        message = f"vLLM asks GPU {gpu.index} for {wanted}, and {human_bytes(free)} are free"
        remedy = "free the GPU, or lower --gpu-memory-utilization"
        yield finding(question, f"gpus:share:{gpu.index}", "fatal" if written else "warning", message, remedy=remedy)


def _health(question: Question, gpu: Gpu) -> Iterator[PreflightFinding]:
    where = f"GPU {gpu.index}"
    if gpu.lost:
        message = f"{where} is lost: {gpu.lost}"
        yield finding(question, f"gpus:lost:{gpu.index}", "fatal", message, remedy="reset the GPU, or reboot the host")
    if gpu.remapped_rows_failed:
        message = f"{where} could not remap a broken row of its memory: it needs to be replaced"
        yield finding(question, f"gpus:rows:{gpu.index}", "fatal", message)
    elif gpu.remapped_rows_pending:
        message = f"{where} remaps a broken row of its memory only at its next reset"
        yield finding(
            question, f"gpus:rows:{gpu.index}", "warning", message, remedy="reset the GPU, or reboot the host"
        )
    if gpu.ecc_uncorrected_count:
        message = f"{where} counts {gpu.ecc_uncorrected_count} memory errors that could not be corrected"
        yield finding(question, f"gpus:ecc:{gpu.index}", "warning", message, remedy="reset the GPU, or reboot the host")


def _holders(question: Question, gpu: Gpu) -> Iterator[PreflightFinding]:
    others = [one for one in gpu.processes or () if one.unit != question.unit.name and _size(one) >= SMALL_BYTES]
    if not others:
        return
    held = sum(map(_size, others))
    names = ", ".join(dict.fromkeys(one.unit or one.held_by or f"pid {one.pid}" for one in others))
    message = f"GPU {gpu.index} has {human_bytes(held)} of {human_bytes(gpu.memory_total_bytes)} taken by {names}"
    remedy = f"stop {names}, or take another GPU"
    yield finding(question, f"gpus:held:{gpu.index}", "warning", message, *map(_told, others), remedy=remedy)


def _size(process: GpuProcess) -> int:
    return process.memory_used_bytes or 0


def _told(process: GpuProcess) -> str:
    return f"pid {process.pid}: {human_bytes(process.memory_used_bytes)}, {process.command or 'no command known'}"


def free_bytes(gpu: Gpu, unit: str) -> int | None:
    """What would be free for a unit once it is stopped; `None`: not known."""
    if gpu.memory_total_bytes is None or gpu.memory_used_bytes is None:
        return None
    own = sum(_size(one) for one in gpu.processes or () if one.unit == unit)
    return gpu.memory_total_bytes - (gpu.memory_reserved_bytes or 0) - max(0, gpu.memory_used_bytes - own)


def _pinned_twice(question: Question, gpus: Sequence[Gpu]) -> Iterator[PreflightFinding]:
    """Other units of the inventory on this host that are given one of these GPUs."""
    own = {gpu.index for gpu in own_gpus(question)} if wanted_gpus(question) else set()
    for unit in question.config.units:
        if unit.name == question.unit.name or question.host.name not in unit.hosts:
            continue
        shared = own & {gpu.index for one in unit.gpus if (gpu := named(str(one), gpus))}
        if shared:
            which = ", ".join(map(str, sorted(shared)))
            message = f"GPU {which} is given to {unit.name} too"
            yield finding(
                question, f"gpus:pinned:{unit.name}", "warning", message, remedy="let only one of them run at a time"
            )
