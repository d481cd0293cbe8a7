"""Client files over the fleet's hosts: many names for three machines, or one unit on all of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from pathlib import Path

    from tests.fleet.harness.fleet import TestFleet

RUNNING = ("counter.service", "sglang-ok.service")
WATCHED = (*RUNNING, "sglang-loop.service", "sglang-import-error.service")
"""By name: a glob would make the product look for unit files too, which nobody does by hand."""


@dataclass(frozen=True, slots=True)
class Inventory:
    """The same hosts for both sides."""

    names: tuple[str, ...]
    hosts_toml: Path
    ssh_config: Path


def many(fleet: TestFleet, folder: Path, count: int) -> Inventory:
    """`count` names, spread evenly over the fleet's hosts, host keys verified by address."""
    real = [host.address for host in fleet.hosts.values()]
    addresses = {f"node-{number:03}": real[number % len(real)] for number in range(count)}
    return _written(fleet, folder, addresses, WATCHED)


def real(
    fleet: TestFleet, folder: Path, units: Iterable[str] = WATCHED, hosts: Collection[str] | None = None
) -> Inventory:
    """The fleet's own three names, or some of them."""
    addresses = {name: host.address for name, host in fleet.hosts.items() if hosts is None or name in hosts}
    return _written(fleet, folder, addresses, units)


def _written(fleet: TestFleet, folder: Path, addresses: dict[str, str], units: Iterable[str]) -> Inventory:
    folder.mkdir(parents=True, exist_ok=True)
    inventory = Inventory(tuple(addresses), folder / "hosts.toml", folder / "ssh_config")
    watched = ", ".join(f'"{unit}"' for unit in units)
    head = f'[defaults]\nuser = "root"\nidentity_file = "{fleet.identity_file}"\nknown_hosts = "{fleet.known_hosts}"\n'
    inventory.hosts_toml.write_text(
        f"{head}units = [{watched}]\n"
        + "".join(f'\n[hosts.{name}]\naddress = "{address}"\n' for name, address in addresses.items())
    )
    inventory.ssh_config.write_text(
        "".join(f"Host {name}\n  HostName {address}\n" for name, address in addresses.items())
        + f"Host *\n  User root\n  IdentityFile {fleet.identity_file}\n  IdentitiesOnly yes\n  IdentityAgent none\n"
        f"  UserKnownHostsFile {fleet.known_hosts}\n  GlobalKnownHostsFile /dev/null\n"
        "  StrictHostKeyChecking yes\n  BatchMode yes\n"
    )
    return inventory
