"""Preflight: processes of an earlier run that still live; they hold ports and the memory of GPUs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflashtui.ops.preflight_asking import acting, finding
from dflashtui.text import decoded, printable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dflashtui.model.preflight import PreflightFinding
    from dflashtui.ops.preflight_question import Question

ENDED = frozenset({"inactive", "failed"})
"""Words of `ActiveState`: nothing of the unit should run."""
OF_GROUP = """
for root in /sys/fs/cgroup /sys/fs/cgroup/systemd /sys/fs/cgroup/unified; do
  cat "$root$1/cgroup.procs" 2>/dev/null
done | sort -un | while read -r pid; do
  echo "$pid $(cat "/proc/$pid/comm" 2>/dev/null)"
done
"""
"""A constant program of sh(1): the processes of a control group, in whichever layout; their arguments may be secret."""
SHOWN = 20


async def leftovers(question: Question, state: Mapping[str, str]) -> Sequence[PreflightFinding]:
    """By the properties `ActiveState` and `ControlGroup` of the unit. Raises `TransportLost`."""
    group = state.get("ControlGroup", "")
    if state.get("ActiveState") not in ENDED or not group.startswith("/"):
        return []
    done = await question.transport.run(("sh", "-c", OF_GROUP, "sh", group), output_limit_bytes=2**16)
    found = [line.partition(" ")[::2] for line in decoded(done.stdout).splitlines() if line[:1].isdigit()]
    if not found:
        return []
    message = "an earlier run left processes behind, which may hold its port and its GPUs: see KillMode="
    evidence = [f"pid {pid} ({printable(name) or '?'})" for pid, name in found[:SHOWN]]
    user = ("--user",) if question.host.manager == "user" else ()
    command = acting(question, "systemctl", *user, "kill", "--", question.unit.name)
    return [finding(question, "manager:leftovers", "warning", message, *evidence, remedy="end them", command=command)]
