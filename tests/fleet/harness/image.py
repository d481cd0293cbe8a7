"""The root file system that all hosts share, built once and kept in the user's cache."""

import fcntl
import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .mirror import Mirror, find_mirror, network_lent
from .shell import FleetUnavailableError, HarnessError, run

BOOTSTRAP_PACKAGES = (
    "systemd", "systemd-sysv", "dbus", "openssh-server", "python3", "python3-venv", "iproute2", "procps", "sudo",
)  # fmt: skip
# polkitd fails as part of debootstrap; the two session packages are what a user manager over SSH needs
LATER_PACKAGES = ("polkitd", "libpam-systemd", "dbus-user-session", "openssh-sftp-server")
RECIPE_VERSION = 1
NO_STARTS = "#!/bin/sh\nexit 101\n"


def cache_folder() -> Path:
    """Where images are kept, outside the repository."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "dflashtui-fleet"


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold an exclusive lock on a file; it is freed when its holder dies."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def image() -> Path:
    """The root folder, built now if there is none of this recipe; a half-built one is never taken for it."""
    mirror = find_mirror()
    root = cache_folder() / f"root-{_recipe_hash(mirror)}"
    with locked(cache_folder() / "lock"):
        if not root.exists():
            _build_or_explain(root, mirror)
            _remove_others(root)
    return root


def _recipe_hash(mirror: Mirror) -> str:
    recipe = [RECIPE_VERSION, mirror.codename, os.uname().machine, BOOTSTRAP_PACKAGES, LATER_PACKAGES]
    return hashlib.sha256(json.dumps(recipe).encode()).hexdigest()[:12]


def _build_or_explain(root: Path, mirror: Mirror) -> None:
    try:
        _build(root, mirror)
    except HarnessError as error:
        raise FleetUnavailableError(f"cannot build the hosts' image ({root.with_suffix('.log')}): {error}") from error


def _build(root: Path, mirror: Mirror) -> None:
    part, log = root.with_suffix(".part"), root.with_suffix(".log")
    shutil.rmtree(part, ignore_errors=True)
    log.unlink(missing_ok=True)
    environment = {**os.environ, **mirror.environment}
    include = f"--include={','.join(BOOTSTRAP_PACKAGES)}"
    run(
        "debootstrap", "--variant=minbase", include, mirror.codename, part, mirror.uri, environment=environment, log=log
    )
    (part / "etc/resolv.conf").unlink(missing_ok=True)  # debootstrap leaves a copy of this machine's
    with network_lent(part, mirror):
        _install_later(part, log)
    part.rename(root)


def _install_later(root: Path, log: Path) -> None:
    policy = root / "usr/sbin/policy-rc.d"
    policy.write_text(NO_STARTS)
    policy.chmod(0o755)
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C"}
    apt = ("chroot", root, "apt-get", "-q", "-y")
    run(*apt, "update", environment=environment, log=log)
    run(*apt, "install", "--no-install-recommends", *LATER_PACKAGES, environment=environment, log=log)
    run(*apt, "clean", environment=environment, log=log)
    policy.unlink()


def _remove_others(root: Path) -> None:
    """Images of older recipes go, except those that a running fleet still has mounted."""
    mounts = Path("/proc/mounts").read_text()
    for other in root.parent.glob("root-*"):
        if other.stem != root.stem and str(root.parent / other.stem) not in mounts:
            _remove(other)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
