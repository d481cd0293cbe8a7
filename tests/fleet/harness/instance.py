"""Which fleets run on this machine: claiming a number, remembering the owner, cleaning up after a dead one."""

import json
import os
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path

from . import cgroups, network
from .image import locked
from .shell import FleetUnavailableError, HarnessError, run, wait_until

INSTANCES = Path("/run/dflashtui-fleet")
HOSTS = ("gpu-a", "gpu-b", "gpu-c")
TMPFS_SIZE = "8g"
STOP_SECONDS = 10


@dataclass(frozen=True, slots=True)
class Instance:
    """One fleet: its number gives bridge, addresses and namespaces, its folder everything else."""

    number: int
    owner_pid: int | None
    """The process that the fleet must not outlive; None: it was started to stay."""
    owner_start: int
    boot_id: str

    @property
    def folder(self) -> Path:
        return INSTANCES / str(self.number)

    @property
    def cgroup(self) -> Path:
        return cgroups.mount_point() / f"dflashtui-fleet-{self.number}"

    @property
    def alive(self) -> bool:
        """Whether anybody still wants it: it is of this boot, and its owner or else its hosts live."""
        if self.boot_id != _boot_id():
            return False
        if self.owner_pid is not None:
            return _start_time(self.owner_pid) == self.owner_start
        return cgroups.is_populated(self.cgroup)


def claim(owner_pid: int | None) -> Instance:
    """A number that nobody uses, with its folder on a tmpfs; fleets whose owner died are removed first."""
    with locked(INSTANCES.with_suffix(".lock")):
        _remove_dead()
        number = _free_number()
        start = _start_time(owner_pid) if owner_pid is not None else 0
        instance = Instance(number, owner_pid, start or 0, _boot_id())
        _make_folder(instance)
    return instance


def remove_dead() -> None:
    """Remove every fleet that nobody wants any more."""
    with locked(INSTANCES.with_suffix(".lock")):
        _remove_dead()


def _remove_dead() -> None:
    for instance in instances():
        if not instance.alive:
            remove(instance)


def _free_number() -> int:
    for number in range(1, network.NETWORK_LIMIT):
        if not (INSTANCES / str(number)).exists() and network.is_free(number):
            return number
    raise FleetUnavailableError(f"all {network.NETWORK_LIMIT} networks for test hosts are taken")


def _make_folder(instance: Instance) -> None:
    instance.folder.mkdir(parents=True, mode=0o755)
    run("mount", "-t", "tmpfs", "-o", f"size={TMPFS_SIZE},mode=755", "dflashtui-fleet", instance.folder)
    # a kept fleet has no host yet: until it has, it belongs to the process that starts it
    save(Instance(instance.number, instance.owner_pid or os.getpid(), *_birth(instance)))


def _birth(instance: Instance) -> tuple[int, str]:
    return instance.owner_start or _start_time(os.getpid()) or 0, instance.boot_id


def save(instance: Instance) -> None:
    """Write the state file."""
    part = instance.folder / "instance.part"
    part.write_text(json.dumps(asdict(instance)))
    part.rename(instance.folder / "instance.json")


def load(folder: Path) -> Instance:
    """The instance of a folder; HarnessError when there is none."""
    try:
        return Instance(**json.loads((folder / "instance.json").read_text()))
    except FileNotFoundError:
        raise HarnessError(f"{folder}: no fleet runs there") from None


def instances() -> list[Instance]:
    """Every fleet of this machine, dead ones too."""
    folders = sorted(INSTANCES.glob("[0-9]*"), key=lambda folder: int(folder.name))
    return [load(folder) if (folder / "instance.json").exists() else _forgotten(folder) for folder in folders]


def _forgotten(folder: Path) -> Instance:
    """A claim that was cut short, or a folder whose tmpfs went away in a reboot."""
    return Instance(int(folder.name), 0, -1, "")


def remove(instance: Instance) -> None:
    """End every process of the fleet and take away all that it made; may be repeated."""
    cgroups.kill(instance.cgroup)
    wait_until(
        lambda: not cgroups.is_populated(instance.cgroup), f"fleet {instance.number} to end", seconds=STOP_SECONDS
    )
    cgroups.remove(instance.cgroup)
    network.remove(instance.number, HOSTS)
    for mount in _mounts_under(instance.folder):
        run("umount", mount)
    shutil.rmtree(instance.folder, ignore_errors=True)


def _mounts_under(folder: Path) -> list[Path]:
    """Deepest first."""
    points = [Path(line.split()[1]) for line in Path("/proc/mounts").read_text().splitlines()]
    return sorted((point for point in points if point.is_relative_to(folder)), reverse=True)


def _boot_id() -> str:
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def _start_time(pid: int) -> int | None:
    """When the process began, in clock ticks since boot (proc(5), stat field 22); None when there is none."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return int(stat.rpartition(")")[2].split()[19])
