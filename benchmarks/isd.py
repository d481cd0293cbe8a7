"""isd, the systemd console that people use on one machine, looking at a fleet's host as if it were local."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchmarks.setting import Setting

FIRST_PICTURE = "Type to search|isd"
FIRST_UNIT = r"\.(?:automount|mount|service|path)"
PROGRAMS = ("systemctl", "journalctl")


def environment(setting: Setting) -> dict[str, str]:
    """Its systemctl and journalctl run on the first host, entered by its namespaces: no network between."""
    folder = setting.folder / "isd-bin"
    folder.mkdir(exist_ok=True)
    host = next(iter(setting.fleet.hosts.values()))
    for name in PROGRAMS:
        script = folder / name
        script.write_text(f'#!/bin/sh\nexec {" ".join(host.command(name))} "$@"\n')
        script.chmod(0o755)
    return {**setting.environment, "PATH": f"{folder}:{setting.environment['PATH']}"}
