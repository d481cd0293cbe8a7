"""Bringing a fleet up and taking it down."""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from . import cgroups, gpus, keys, network, root
from .fleet import TestFleet
from .host import Host
from .image import cache_folder, image, locked
from .instance import HOSTS, Instance, claim, load, remove, save
from .packages import require_packages, require_rights
from .shell import HarnessError

WITHOUT_DRIVER = frozenset({"gpu-c"})


def prepare() -> Path:
    """Everything that is made once a machine: packages, image, library. FleetUnavailableError where it cannot be."""
    require_rights()
    with locked(cache_folder() / "prepare.lock"):  # of two test processes the second finds everything made
        require_packages()
        cgroups.mount_point()
        gpus.library()
        gpus.program()
        return image()


def up(owner_pid: int | None = None) -> TestFleet:
    """A booted fleet. With an owner it is removed by the next one that starts after its owner's death."""
    lower = prepare()
    instance = claim(owner_pid)
    try:
        _boot(instance, lower)
    except BaseException:
        remove(instance)
        raise
    save(instance)
    return TestFleet(instance.folder, instance.number, hosts_of(instance), attached=False)


def attach(folder: Path) -> TestFleet:
    """A fleet that runs already; HarnessError when it does not."""
    instance = load(folder)
    hosts = hosts_of(instance)
    if down := [name for name, host in hosts.items() if not host.is_up]:
        raise HarnessError(f"{folder}: not up: {', '.join(down)}")
    return TestFleet(folder, instance.number, hosts, attached=True)


@contextmanager
def running() -> Iterator[TestFleet]:
    """A fleet for as long as the context and at most as this process."""
    fleet = up(os.getpid())
    try:
        yield fleet
    finally:
        remove(load(fleet.folder))


def hosts_of(instance: Instance) -> dict[str, Host]:
    """The hosts by name, in the order of their positions."""
    return {name: _host(instance, position, name) for position, name in enumerate(HOSTS)}


def _host(instance: Instance, position: int, name: str) -> Host:
    return Host(
        name=name,
        address=network.host_address(instance.number, position),
        netns=network.namespace_name(instance.number, name),
        folder=instance.folder / "hosts" / name,
        cgroup=instance.cgroup / name,
        has_gpus=name not in WITHOUT_DRIVER,
    )


def _boot(instance: Instance, lower: Path) -> None:
    hosts = hosts_of(instance)
    addresses = {name: host.address for name, host in hosts.items()}
    login_key = keys.make_key(instance.folder / "id_ed25519", comment="fleet")
    network.make_bridge(instance.number)
    with ThreadPoolExecutor(len(hosts)) as pool:
        furnished = pool.map(lambda host: _furnish(instance, host, lower, addresses, login_key), hosts.values())
        public = dict(zip(addresses.items(), furnished, strict=True))
        _write_client_files(instance, addresses, public)
        list(pool.map(Host.wait, hosts.values()))


def _furnish(instance: Instance, host: Host, lower: Path, addresses: dict[str, str], login_key: str) -> list[str]:
    """Make the host's root and start it; its public host keys."""
    position = HOSTS.index(host.name)
    merged = root.mount_overlay(lower, host.folder)
    root.identify(merged, host.name, addresses)
    root.add_users(merged)
    public = root.install_keys(merged, host.name, login_key)
    root.install_services(merged)
    if host.has_gpus:
        gpus.install(merged, position)
    network.make_leg(instance.number, position, host.name)
    host.start()
    return public


def _write_client_files(
    instance: Instance, addresses: dict[str, str], public: dict[tuple[str, str], list[str]]
) -> None:
    identity, known_hosts = instance.folder / "id_ed25519", instance.folder / "known_hosts"
    known_hosts.write_text(keys.known_hosts_text(public))
    (instance.folder / "ssh_config").write_text(keys.ssh_config_text(addresses, identity, known_hosts))
    (instance.folder / "hosts.toml").write_text(keys.hosts_toml_text(addresses, identity, known_hosts))
