"""Preflight: room on the disks that an engine writes to, and a home for the kernels that it compiles."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from dflashtui.ops.preflight_asking import Level, as_user, finding
from dflashtui.text import decoded, human_bytes, whole_number

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from dflashtui.model.preflight import PreflightFinding
    from dflashtui.ops.preflight_question import Question

CACHES = (
    "HF_HOME",
    "HF_HUB_CACHE",
    "XDG_CACHE_HOME",
    "TRITON_CACHE_DIR",
    "FLASHINFER_WORKSPACE_BASE",
    "VLLM_CACHE_ROOT",
)
HOME_OF = 'h=$(getent passwd "$1" | cut -d: -f6); echo "${h:-/root}"'
NEAREST = """
for path; do
  while [ ! -e "$path" ] && [ "$path" != / ]; do path=$(dirname -- "$path"); done
  [ -w "$path" ] || echo "$path"
done
"""
"""A constant program of sh(1), run as the unit's user: which of these folders could not be written to."""
LEAST_BYTES = 1 << 30
LEAST_SHM_BYTES = 128 << 20
"""NCCL and the worker processes of both engines talk through files there."""
LEAST_INODES = 1000
SHM = "/dev/shm"  # noqa: S108 - looked at, not used
TMP = "/tmp"  # noqa: S108 - looked at, not used


async def check(question: Question) -> Sequence[PreflightFinding]:
    """Room, then rights. Raises `TransportLost`."""
    home = await _home(question)
    caches = [question.environment[name] for name in CACHES if question.environment.get(name, "").startswith("/")]
    folders = list(dict.fromkeys([home, *caches]))
    room, rights = await asyncio.gather(_room(question, [TMP, SHM, home, *caches]), _rights(question, folders))
    return [*room, *rights]


async def _home(question: Question) -> str:
    written = question.environment.get("HOME", "")
    if written.startswith("/"):
        return written
    user = question.user or ("root" if question.host.manager == "system" else "")
    argv = ("sh", "-c", HOME_OF, "sh", user) if user else ("sh", "-c", 'echo "$HOME"')
    return decoded((await question.transport.run(argv)).stdout).strip() or "/root"


async def _room(question: Question, folders: Sequence[str]) -> list[PreflightFinding]:
    transport = question.transport
    blocks, inodes = await asyncio.gather(
        transport.run(("df", "-P", "-k", "--", *folders)), transport.run(("df", "-P", "-i", "--", *folders))
    )
    return [*_full(question, decoded(blocks.stdout)), *_no_inodes(question, decoded(inodes.stdout))]


def _rows(printed: str) -> dict[str, int]:
    """Free units by mount point: `Filesystem 1024-blocks Used Available Capacity Mounted on`."""
    rows = [line.split(maxsplit=5) for line in printed.splitlines()[1:]]
    free = {row[5]: whole_number(row[3]) for row in rows if len(row) > 5}  # noqa: PLR2004 - the mount point
    return {place: count for place, count in free.items() if count is not None}


def _full(question: Question, printed: str) -> Iterator[PreflightFinding]:
    for mount, free in _rows(printed).items():
        size = free * 1024
        if mount == SHM and size < LEAST_SHM_BYTES:
            message = f"{SHM} has {human_bytes(size)} free: NCCL and the worker processes need room there"
            yield finding(question, "disk:shm", "warning", message, remedy=f"remove from {SHM} what nobody needs")
        elif mount != SHM and size < LEAST_BYTES:
            level: Level = "fatal" if size == 0 else "warning"
            message = f"{mount} has {human_bytes(size)} free"
            yield finding(question, f"disk:{mount}", level, message, remedy=f"make room on {mount}")


def _no_inodes(question: Question, printed: str) -> Iterator[PreflightFinding]:
    for mount, free in _rows(printed).items():
        # file systems that count no inodes tell 0 of 0, which `isdecimal` lets pass: their size is `-` or 0
        if 0 < free < LEAST_INODES:
            message = f"{mount} has room for {free} more files only"
            yield finding(question, f"disk:inodes:{mount}", "warning", message, remedy=f"remove files on {mount}")


async def _rights(question: Question, folders: Sequence[str]) -> list[PreflightFinding]:
    prefix = await as_user(question)
    if prefix is None or question.interpreter is None:
        return []
    done = await question.transport.run((*prefix, "sh", "-c", NEAREST, "sh", *folders))
    who = question.user or "root"
    return [
        finding(
            question,
            f"disk:rights:{path}",
            "warning",
            f"{who} may not write to {path}: kernels that are compiled at the first request have no place to go",
            remedy="give it a home of its own, or set HOME and XDG_CACHE_HOME in Environment=",
        )
        for path in dict.fromkeys(decoded(done.stdout).splitlines())
    ]
