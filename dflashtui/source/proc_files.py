"""Units and command lines of processes, read by `grep` where no python3 is."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from dflashtui.sampler.cgroups import holder
from dflashtui.sampler.masking import command_line
from dflashtui.text import decoded

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dflashtui.model.gpu import GpuProcess
    from dflashtui.transport.base import Transport

LINE = re.compile(r"/proc/(\d+)/\w+:(.*)", re.DOTALL)


async def with_holders(
    transport: Transport, found: Mapping[str, tuple[GpuProcess, ...]]
) -> dict[str, tuple[GpuProcess, ...]]:
    """The same processes with `unit`, `held_by` and `command` as far as their /proc files can be read."""
    pids = sorted({process.pid for processes in found.values() for process in processes})
    if not pids:
        return dict(found)
    groups = (await transport.run(_grep("cgroup", pids))).stdout
    return held(found, groups, (await transport.run(_grep("cmdline", pids, "-z"))).stdout)


def held(
    found: Mapping[str, tuple[GpuProcess, ...]], cgroups: bytes, cmdlines: bytes
) -> dict[str, tuple[GpuProcess, ...]]:
    """The same processes with what `grep -s -H -a ''` printed of their cgroup files, and `-z` of their cmdlines."""
    groups, arguments = parse_grep(cgroups, "\n"), parse_grep(cmdlines, "\0")
    return {
        gpu: tuple(_with_holder(one, groups.get(one.pid, []), arguments.get(one.pid, [])) for one in some)
        for gpu, some in found.items()
    }


def _grep(name: str, pids: Sequence[int], *options: str) -> tuple[str, ...]:
    """Every line of the files with the file's name before it; those that are gone are left out."""
    return ("grep", "-s", "-H", "-a", *options, "", "--", *(f"/proc/{pid}/{name}" for pid in pids))


def parse_grep(output: bytes, end: str) -> dict[int, list[str]]:
    """Lines (or arguments) by pid. `end`: what stands after each. A line break inside an argument stays in it."""
    found: dict[int, list[str]] = {}
    for piece in decoded(output).removesuffix(end).split(end):
        match = LINE.fullmatch(piece)
        if match:
            found.setdefault(int(match[1]), []).append(match[2])
    return found


def _with_holder(process: GpuProcess, groups: list[str], arguments: list[str]) -> GpuProcess:
    unit, held_by = holder("\n".join(groups))
    command = command_line(arguments) if arguments else process.command
    return process.model_copy(update={"unit": unit, "held_by": held_by, "command": command})
