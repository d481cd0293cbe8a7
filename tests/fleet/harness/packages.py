"""What this machine must have to run the fleet, and installing it."""

import os
import shutil
from pathlib import Path

from .shell import FleetUnavailableError, HarnessError, run

PROGRAMS = {
    "systemd-nspawn": "systemd-container",
    "debootstrap": "debootstrap",
    "ssh": "openssh-client",
    "ssh-keygen": "openssh-client",
    "ip": "iproute2",
    "nsenter": "util-linux",
    "gcc": "gcc",
}
CAPABILITIES = {"CAP_NET_ADMIN": 12, "CAP_SYS_ADMIN": 21}
ENVIRONMENT = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}


def require_rights() -> None:
    """FleetUnavailableError when this process may not mount, make network namespaces, or was told not to."""
    if os.environ.get("DFLASHTUI_FLEET") == "off":
        raise FleetUnavailableError("switched off by DFLASHTUI_FLEET=off")
    if os.geteuid() != 0:
        raise FleetUnavailableError("the test hosts need root (containers, network namespaces)")
    status = Path("/proc/self/status").read_text()
    effective = int(next(line for line in status.splitlines() if line.startswith("CapEff:")).split()[1], 16)
    if lacking := [name for name, bit in CAPABILITIES.items() if not effective >> bit & 1]:
        raise FleetUnavailableError(f"root without {' and '.join(lacking)} cannot make the test hosts")


def missing_packages() -> list[str]:
    """The Debian packages to install, in order and once each."""
    found = {package: None for program, package in PROGRAMS.items() if shutil.which(program) is None}
    if not Path("/usr/include/stdio.h").exists():
        found["libc6-dev"] = None
    return list(found)


def require_packages() -> None:
    """Install what is missing; FleetUnavailableError when apt fails."""
    missing = missing_packages()
    if not missing:
        return
    if shutil.which("apt-get") is None:
        raise FleetUnavailableError(f"no apt-get here to install {', '.join(missing)}")
    try:
        run("apt-get", "update", environment=ENVIRONMENT)
        run("apt-get", "install", "-y", "--no-install-recommends", *missing, environment=ENVIRONMENT)
    except HarnessError as error:
        raise FleetUnavailableError(f"cannot install {', '.join(missing)}: {error}") from error
