"""A cgroup (v2) for each host, so that its processes are known, kept apart, and ended together."""

from pathlib import Path

from .shell import FleetUnavailableError


def mount_point() -> Path:
    """Where the unified hierarchy is mounted, beside the legacy ones or alone."""
    for line in Path("/proc/mounts").read_text().splitlines():
        _, point, kind, options, *_ = line.split()
        if kind == "cgroup2":
            if "ro" in options.split(","):
                raise FleetUnavailableError(f"{point} (cgroup2) is mounted read-only")
            return Path(point)
    raise FleetUnavailableError("no cgroup2 file system is mounted")


def make(cgroup: Path) -> None:
    cgroup.mkdir(parents=True, exist_ok=True)


def is_populated(cgroup: Path) -> bool:
    """Whether a process lives in it or below."""
    try:
        return "populated 1" in (cgroup / "cgroup.events").read_text()
    except FileNotFoundError:
        return False


def kill(cgroup: Path) -> None:
    """SIGKILL to everything in it and below, and to nothing else (Linux 5.14)."""
    try:
        (cgroup / "cgroup.kill").write_text("1")
    except FileNotFoundError:
        return


def remove(cgroup: Path) -> None:
    """Remove the empty tree."""
    if cgroup.exists():
        for folder in sorted((path for path in cgroup.rglob("*") if path.is_dir()), reverse=True):
            folder.rmdir()
        cgroup.rmdir()
