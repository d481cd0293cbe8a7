"""python -m tests.fleet.harness up|down|status|exec: fleets that stay until they are taken down."""

import argparse
import os
import subprocess
import sys
from pathlib import Path

from . import boot
from .host import Host
from .instance import instances, load, remove, remove_dead
from .shell import FleetUnavailableError, HarnessError


def up(_options: argparse.Namespace) -> int:
    _say(str(boot.up().folder))
    return 0


def down(options: argparse.Namespace) -> int:
    remove_dead()
    remove(load(_folder(options)))
    return 0


def status(_options: argparse.Namespace) -> int:
    for instance in instances():
        owner = f"owned by {instance.owner_pid}" if instance.owner_pid else "kept"
        states = (f"{host.name} {host.address} {'up' if host.is_up else 'down'}" for host in _hosts(instance.folder))
        _say("\t".join((str(instance.folder), owner if instance.alive else "dead", *states)))
    return 0


def _hosts(folder: Path) -> list[Host]:
    return list(boot.hosts_of(load(folder)).values())


def execute(options: argparse.Namespace) -> int:
    host = boot.hosts_of(load(_folder(options)))[options.host]
    return subprocess.run(host.command(*options.command), check=False).returncode


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")


def _folder(options: argparse.Namespace) -> Path:
    """The folder named by option or environment, else that of the only fleet that is kept."""
    if named := options.instance or os.environ.get("DFLASHTUI_FLEET_INSTANCE"):
        return Path(named)
    kept = [instance.folder for instance in instances() if instance.owner_pid is None]
    if len(kept) != 1:
        raise HarnessError(f"{len(kept)} fleets are kept; name one with --instance")
    return kept[0]


def parser() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(prog="python -m tests.fleet.harness", description=__doc__)
    options.add_argument("--instance", help="folder of a fleet, as `up` printed it")
    commands = options.add_subparsers(required=True)
    for name, action, words in (
        ("up", up, "boot a fleet and print its folder"),
        ("down", down, "end it, and those whose owner died"),
        ("status", status, "list the fleets of this machine"),
    ):
        commands.add_parser(name, help=words).set_defaults(action=action)
    run = commands.add_parser("exec", help="run a command on a host as root")
    run.set_defaults(action=execute)
    run.add_argument("host")
    run.add_argument("command", nargs=argparse.REMAINDER)
    return options


def main() -> int:
    options = parser().parse_args()
    try:
        action: int = options.action(options)
    except (FleetUnavailableError, HarnessError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return action


if __name__ == "__main__":
    raise SystemExit(main())
