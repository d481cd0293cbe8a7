"""Control groups: which unit a path belongs to, and what a unit's group uses."""

from __future__ import annotations

import os
import re

ROOT = "/sys/fs/cgroup"
DELETED = " (deleted)"
USER_MANAGER = re.compile(r"user@\d+\.service")
UNIT = re.compile(r".+\.(service|scope)")
CONTAINER_SCOPE = re.compile(
    r"(?P<kind>docker|libpod|crio|cri-containerd|containerd)-(?P<id>[0-9a-f]{12})[0-9a-f]*\.scope"
)
CONTAINER_ID = re.compile(r"[0-9a-f]{64}")
LXC = re.compile(r"lxc(\.payload)?[./](?P<name>[^/]+)")


def holder(proc_cgroup: str) -> tuple[str | None, str | None]:
    """The unit of a process, and what else holds it when no unit does (`docker 0123456789ab`, `session-5.scope`).

    `proc_cgroup`: the text of /proc/PID/cgroup, v1, hybrid or v2. A login session's processes belong to no unit:
    nobody could stop them with systemctl. Follows systemd's `cg_path_get_unit` and `cg_path_get_user_unit`.
    """
    parts = [part for part in _path(proc_cgroup).split("/") if part]
    unit, rest = _first_unit(parts)
    if unit and USER_MANAGER.fullmatch(unit):
        unit, rest = _first_unit(rest)
    if unit and (unit.endswith(".service") or unit.startswith("run-")):
        return unit, None
    return None, _container(parts) or unit or (parts[-1] if parts else None)


def _path(proc_cgroup: str) -> str:
    """Where systemd put the process: the v2 path, unless only the legacy hierarchy is in use."""
    paths = {}
    for line in proc_cgroup.splitlines():
        number, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if number == "0" or controllers == "name=systemd":
            paths[controllers] = path[: -len(DELETED)] if path.endswith(DELETED) else path
    unified = paths.get("", "/")
    return paths.get("name=systemd", "/") if unified == "/" else unified


def _first_unit(parts: list[str]) -> tuple[str | None, list[str]]:
    """The first part that is no slice, if it names a unit, and what follows. systemd escapes some names with `_`."""
    for position, part in enumerate(parts):
        if part.endswith(".slice"):
            continue
        name = part[1:] if part.startswith("_") else part
        return (name if UNIT.fullmatch(name) else None), parts[position + 1 :]
    return None, []


def _container(parts: list[str]) -> str | None:
    for position, part in enumerate(parts):
        scope = CONTAINER_SCOPE.fullmatch(part)
        if scope:
            return "%s %s" % (scope["kind"], scope["id"])
        if CONTAINER_ID.fullmatch(part):
            return "%s %s" % (parts[position - 1] if position else "container", part[:12])
        if part.startswith("machine-") and part.endswith(".scope"):
            return "machine " + part[len("machine-") : -len(".scope")].replace(r"\x2d", "-")
    lxc = LXC.match("/".join(parts))
    return "lxc " + lxc["name"] if lxc else None


def usage(control_group: str, root: str = ROOT) -> list[int | None]:
    """Memory in bytes, CPU time in nanoseconds, tasks; `None` where the controller is off or the group is gone."""
    path = control_group.strip("/")
    if not path or ".." in path.split("/"):
        return [None, None, None]
    if os.path.exists(os.path.join(root, "cgroup.controllers")):
        return _usage_v2(os.path.join(root, path))
    return [
        _number(os.path.join(root, controller, path, name))
        for controller, name in (
            ("memory", "memory.usage_in_bytes"),
            ("cpuacct", "cpuacct.usage"),
            ("pids", "pids.current"),
        )
    ]


def _usage_v2(group: str) -> list[int | None]:
    times = dict(line.split(" ", 1) for line in _text(os.path.join(group, "cpu.stat")).splitlines())
    microseconds = times.get("usage_usec")
    return [
        _number(os.path.join(group, "memory.current")),
        int(microseconds) * 1000 if microseconds else None,
        _number(os.path.join(group, "pids.current")),
    ]


def _number(path: str) -> int | None:
    text = _text(path).strip()
    return int(text) if text.isdigit() else None


def _text(path: str) -> str:
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            return file.read()
    except OSError:
        return ""
