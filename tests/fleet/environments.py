"""Small virtual environments on the hosts, without pip and network."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.site_files import as_tar

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tests.fleet.harness.fleet import TestFleet
    from tests.support.site_files import Files

FOLDER = "/opt/environments"
VENV = f"{FOLDER}/venv"
PYTHON = f"{VENV}/bin/python"
SITE = f"{VENV}/lib/python3.11/site-packages"


def lay_out(fleet: TestFleet, host: str, files: Files, *, wheels: Mapping[str, bytes] | None = None) -> None:
    """A fresh environment with these files in its site-packages. `wheels`: with pip, and no index but these."""
    fleet.check(host, "rm", "-rf", FOLDER)
    fleet.check(host, "python3", "-m", "venv", *(() if wheels else ("--without-pip",)), VENV)
    if wheels:
        fleet.check(host, "mkdir", f"{FOLDER}/wheels")
        fleet.check(host, "tar", "-x", "-C", f"{FOLDER}/wheels", stdin=as_tar(wheels))
        settings = f"[global]\nno-index = true\nfind-links = {FOLDER}/wheels\n"
        fleet.check(host, "tar", "-x", "-C", VENV, stdin=as_tar({"pip.conf": settings.encode()}))
    fleet.check(host, "tar", "-x", "-C", SITE, stdin=as_tar(files))


def clear(fleet: TestFleet, *hosts: str) -> None:
    """As it was before."""
    for host in hosts:
        fleet.check(host, "rm", "-rf", FOLDER)


def inventory(fleet: TestFleet, path: Path) -> Path:
    """hosts.toml of the fleet, with a unit that runs on two of its hosts."""
    unit = f'\n[units."sglang-env.service"]\nhosts = ["gpu-a", "gpu-b"]\nengine = "sglang"\npython = "{PYTHON}"\n'
    path.write_text(fleet.config_path.read_text() + unit)
    return path
