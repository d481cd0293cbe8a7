"""A bridge for one fleet, and for each host a network namespace with one leg on it."""

import subprocess
from pathlib import Path

from .shell import HarnessError, run

PREFIX = "dft"
NETWORK_LIMIT = 200
HOST_INTERFACE = "host0"


def bridge_name(number: int) -> str:
    return f"{PREFIX}{number}"


def console_address(number: int) -> str:
    """This machine's own address on the bridge."""
    return f"10.211.{number}.1"


def host_address(number: int, position: int) -> str:
    return f"10.211.{number}.{11 + position}"


def namespace_name(number: int, host: str) -> str:
    return f"{PREFIX}{number}-{host}"


def is_free(number: int) -> bool:
    """No link of that name, and no route but the default one leads to those addresses."""
    if Path(f"/sys/class/net/{bridge_name(number)}").exists():
        return False
    return not run("ip", "route", "show", "root", f"10.211.{number}.0/24").strip()


def make_bridge(number: int) -> None:
    name = bridge_name(number)
    run("ip", "link", "add", name, "type", "bridge")
    run("ip", "address", "add", f"{console_address(number)}/24", "dev", name)
    run("ip", "link", "set", name, "up")


def make_leg(number: int, position: int, host: str) -> None:
    """The host's namespace with its interface up and addressed; there is no default route."""
    space, leg = namespace_name(number, host), f"{bridge_name(number)}-{position}"
    peer = f"{leg}p"
    run("ip", "netns", "add", space)
    run("ip", "link", "add", leg, "type", "veth", "peer", "name", peer)
    run("ip", "link", "set", leg, "master", bridge_name(number), "up")
    run("ip", "link", "set", peer, "netns", space, "name", HOST_INTERFACE)
    inside = ("ip", "-n", space)
    run(*inside, "link", "set", "lo", "up")
    run(*inside, "address", "add", f"{host_address(number, position)}/24", "dev", HOST_INTERFACE)
    run(*inside, "link", "set", HOST_INTERFACE, "up")


def remove(number: int, hosts: tuple[str, ...]) -> None:
    """Remove bridge and namespaces, as many as there are; a leg goes with its namespace."""
    for host in hosts:
        _quietly("ip", "netns", "delete", namespace_name(number, host))
    for position in range(len(hosts)):
        _quietly("ip", "link", "delete", f"{bridge_name(number)}-{position}")
    _quietly("ip", "link", "delete", bridge_name(number))


def _quietly(*argv: str) -> None:
    subprocess.run(argv, capture_output=True, check=False)  # it may be gone already


def cut(number: int, host: str) -> None:
    """Swallow everything that the host sends to the console, silently, until `join`."""
    if not is_cut(number, host):
        run("ip", "-n", namespace_name(number, host), "route", "add", "blackhole", f"{console_address(number)}/32")


def join(number: int, host: str) -> None:
    """Undo `cut`; without one nothing happens."""
    if is_cut(number, host):
        run("ip", "-n", namespace_name(number, host), "route", "del", "blackhole", f"{console_address(number)}/32")


def is_cut(number: int, host: str) -> bool:
    """Whether the console is unreachable from the host; HarnessError when the namespace is gone."""
    space = namespace_name(number, host)
    if not Path(f"/run/netns/{space}").exists():
        raise HarnessError(f"{host}: no network namespace {space}")
    return b"blackhole" in run("ip", "-n", space, "route", "show", "type", "blackhole")
