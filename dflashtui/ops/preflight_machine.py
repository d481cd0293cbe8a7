"""Preflight: the host's memory and its clock."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflashtui.ops.preflight_asking import finding
from dflashtui.text import human_bytes, human_span

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from dflashtui.model.preflight import PreflightFinding
    from dflashtui.model.sample import HostSample
    from dflashtui.ops.preflight_question import Question

LEAST_MEMORY_BYTES = 2 << 30
"""torch and an engine alone need that much before any weight is loaded."""
LARGEST_SKEW_SECONDS = 30.0


async def check(question: Question) -> Sequence[PreflightFinding]:
    """By the sample that was taken at the beginning."""
    sample = question.gpu_sample
    if sample is None:
        return []
    return [*_memory(question, sample), *_clock(question, sample)]


def _memory(question: Question, sample: HostSample) -> Iterator[PreflightFinding]:
    available, total = sample.memory_available_bytes, sample.memory_total_bytes
    if available is not None and available < LEAST_MEMORY_BYTES:
        message = (
            f"{human_bytes(available)} of {human_bytes(total)} memory are free: an engine needs more to load anything"
        )
        shm = f"/dev/shm holds {human_bytes(sample.shm_used_bytes)} of it"  # noqa: S108 - told, not used
        remedy = "stop what nobody needs; what stands in /dev/shm is memory, too"
        yield finding(question, "machine:memory", "warning", message, shm, remedy=remedy)


def _clock(question: Question, sample: HostSample) -> Iterator[PreflightFinding]:
    skew = sample.clock_skew_seconds
    if skew is not None and abs(skew) > LARGEST_SKEW_SECONDS:
        word = "ahead" if skew > 0 else "behind"
        message = f"the host's clock is {human_span(abs(skew))} {word} of ours: certificates and tokens may be refused"
        yield finding(question, "machine:clock", "warning", message, remedy="see to time synchronisation (timedatectl)")
