"""SSH keys of one fleet and the client files made from them."""

import shutil
from collections.abc import Mapping
from pathlib import Path

from .shell import run

HOST_KEY_TYPES = ("ed25519", "ecdsa")
USERS = ("root", "ops", "sud")
WATCHED = ("sglang-*.service", "counter.service", "flood*.service", "stubborn.service", "oneshot.service",
           "hostile*.service", "worker@*.service")  # fmt: skip


def make_key(path: Path, *, key_type: str = "ed25519", comment: str) -> str:
    """A new key pair without a passphrase; its public line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    run("ssh-keygen", "-q", "-t", key_type, "-N", "", "-C", comment, "-f", path)
    return path.with_name(path.name + ".pub").read_text().strip()


def make_host_keys(folder: Path, host: str) -> list[str]:
    """Host keys in the names that sshd looks for; their public lines."""
    return [make_key(folder / f"ssh_host_{kind}_key", key_type=kind, comment=f"root@{host}") for kind in HOST_KEY_TYPES]


def known_hosts_text(public_lines: Mapping[tuple[str, str], list[str]]) -> str:
    """known_hosts for (name, address) pairs."""
    return "".join(
        f"{name},{address} {' '.join(line.split()[:2])}\n"
        for (name, address), lines in public_lines.items()
        for line in lines
    )


def ssh_config_text(addresses: Mapping[str, str], identity: Path, known_hosts: Path) -> str:
    """A client configuration that touches nothing of the user's own."""
    hosts = "".join(
        f"Host {name}\n  HostName {address}\n  HostKeyAlias {name}\n" for name, address in addresses.items()
    )
    return (
        f"{hosts}Host *\n  User root\n  IdentityFile {identity}\n  IdentitiesOnly yes\n  IdentityAgent none\n"
        f"  UserKnownHostsFile {known_hosts}\n  GlobalKnownHostsFile /dev/null\n  StrictHostKeyChecking yes\n"
        "  BatchMode yes\n  ConnectTimeout 10\n"
    )


def hosts_toml_text(addresses: Mapping[str, str], identity: Path, known_hosts: Path) -> str:
    """The inventory of the fleet."""
    units = ", ".join(f'"{unit}"' for unit in WATCHED)
    head = f'[defaults]\nuser = "root"\nidentity_file = "{identity}"\nknown_hosts = "{known_hosts}"\n\n[groups.fleet]\n'
    return head + "".join(
        f'\n[hosts.{name}]\naddress = "{address}"\ngroup = "fleet"\nunits = [{units}]\n'
        for name, address in addresses.items()
    )


def authorize(root: Path, public_line: str) -> None:
    """Let the key log in as root and the two plain users, whose homes exist already."""
    for user in USERS:
        home = root / ("root" if user == "root" else f"home/{user}")
        folder = home / ".ssh"
        folder.mkdir(mode=0o700, exist_ok=True)
        keys = folder / "authorized_keys"
        keys.write_text(public_line + "\n")
        keys.chmod(0o600)
        owner = home.stat()
        for path in (folder, keys):
            shutil.chown(path, owner.st_uid, owner.st_gid)
