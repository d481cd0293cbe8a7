"""What each command takes beside the common options. Imports nothing that costs time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from argparse import ArgumentParser
    from collections.abc import Callable

ACTIONS = {
    "start": "start a unit",
    "stop": "stop a unit",
    "restart": "restart a unit",
    "reload": "ask a unit to read its configuration again",
    "reset-failed": "forget that a unit failed, and its start limit",
    "enable": "start a unit at boot",
    "disable": "do not start a unit at boot",
    "mask": "make a unit impossible to start",
    "unmask": "take back mask",
    "kill": "send a signal to the processes of a unit",
}


@dataclass(frozen=True, slots=True)
class Command:
    """One command of the command line: `dflashtui.cli.MODULE` has its `run_MODULE`."""

    module: str
    words: str
    add_arguments: Callable[[ArgumentParser], None]
    more: str = ""

    @property
    def description(self) -> str:
        """What `--help` of the command says first."""
        return f"{self.words}{self.more}"


def _unit(parser: ArgumentParser) -> None:
    parser.add_argument("unit", metavar="UNIT")


def _yes(parser: ArgumentParser) -> None:
    parser.add_argument("-y", "--yes", action="store_true", help="do not ask, whatever the weight of the action")


def _action(name: str, parser: ArgumentParser) -> None:
    _unit(parser)
    _yes(parser)
    if name == "kill":
        parser.add_argument("-s", "--signal", default="SIGTERM", help="signal to send (default: SIGTERM)")
    if name in {"start", "restart"}:
        parser.add_argument("--no-probe", action="store_true", help="do not watch the start until it is ready or dead")


def _probe(parser: ArgumentParser) -> None:
    _unit(parser)
    parser.add_argument("--start", action="store_true", help="start it first; the start is watched from its beginning")
    parser.add_argument("-y", "--yes", action="store_true", help="with --start: do not ask, whatever its weight")


def _logs(parser: ArgumentParser) -> None:
    _unit(parser)
    parser.add_argument("words", metavar="UNIT", nargs="*", help="more units, in the same stream")
    parser.add_argument("-f", "--follow", action="store_true", help="go on with new lines")
    parser.add_argument("-n", "--lines", type=int, metavar="N", help="the last N lines of each host (default: 100)")
    parser.add_argument("--since", metavar="TIME", help="from this time on, as journalctl reads it")
    parser.add_argument("--grep", metavar="REGEX", help="only lines that match, as journalctl --grep")
    parser.add_argument("-p", "--priority", metavar="LEVEL", help="this level and worse, as journalctl -p")
    parser.add_argument("-o", "--output", choices=("short", "full", "cat"), help="how a line looks (default: short)")
    parser.add_argument(
        "-k", "--kernel", action="store_true", help="with those kernel lines that matter: Xid, out of memory, …"
    )


def _diagnose(parser: ArgumentParser) -> None:
    parser.add_argument("files", metavar="FILE", nargs="*", type=Path, help="a log; none or -: standard input")


def _advise(parser: ArgumentParser) -> None:
    parser.add_argument("words", metavar="FILE|UNIT", nargs="+", help="a unit file, - for stdin, or a unit as rendered")


def _push(parser: ArgumentParser) -> None:
    _unit(parser)
    _yes(parser)
    parser.add_argument("--dry-run", action="store_true", help="verify and show what would change; change nothing")
    parser.add_argument("--force", action="store_true", help="replace a file that somebody else changed since our push")


def _rollback(parser: ArgumentParser) -> None:
    _unit(parser)
    _yes(parser)
    parser.add_argument("--to", type=int, metavar="N", help="the kept text with this number (default: the newest)")
    parser.add_argument("--list", action="store_true", help="list what is kept, change nothing")
    parser.add_argument("--force", action="store_true", help="replace a file that somebody else changed since our push")
    parser.add_argument("--dry-run", action="store_true", help="show the difference; change nothing")


def _overlay(parser: ArgumentParser) -> None:
    parser.add_argument("step", choices=("status", "push", "restore"))
    _unit(parser)
    _yes(parser)
    parser.add_argument("--dry-run", action="store_true", help="show what would change; change nothing")
    parser.add_argument("--force", action="store_true", help="replace files that somebody else changed since our push")


def _deploy(parser: ArgumentParser) -> None:
    _unit(parser)
    _yes(parser)
    parser.add_argument("--rollback", action="store_true", help="put a host back if its probe fails, and probe again")
    parser.add_argument("--wave", type=int, metavar="N", help="hosts at once after the first one (default: all)")
    parser.add_argument("--no-preflight", action="store_true", help="do not look for faults before the start")
    parser.add_argument("--force", action="store_true", help="go on in spite of fatal findings and foreign changes")
    parser.add_argument("--stop-old", action="store_true", help="with --host of another host: stop it where it ran")
    parser.add_argument("--dry-run", action="store_true", help="show the plan and the differences; change nothing")


def _preflight(parser: ArgumentParser) -> None:
    _unit(parser)
    _yes(parser)
    parser.add_argument("--fix", action="store_true", help="run all remedies that are commands, after one question")


def _compare(parser: ArgumentParser) -> None:
    parser.add_argument("words", metavar="HOST", nargs="+")
    parser.add_argument("--python", metavar="PATH", help="the interpreter (default: that of the inventory's units)")
    parser.add_argument("--files", dest="package", metavar="PACKAGE", help="the files of this package, by hash")
    parser.add_argument("--all", action="store_true", help="what is equal, too")


def _sync(parser: ArgumentParser) -> None:
    parser.add_argument("words", metavar="FROM TO PACKAGE", nargs="+", help="two hosts, then packages")
    _yes(parser)
    parser.add_argument("--python", metavar="PATH", help="the interpreter (default: that of the inventory's units)")
    parser.add_argument("--copy", action="store_true", help="copy the files, also where an index has the version")
    parser.add_argument("--undo", action="store_true", help="put back what the last sync replaced")
    parser.add_argument("--dry-run", action="store_true", help="show the plan; change nothing")


def _smoke(parser: ArgumentParser) -> None:
    _unit(parser)
    parser.add_argument("--prompt", metavar="TEXT", help="what to ask instead of a short question")


def _bench(parser: ArgumentParser) -> None:
    parser.add_argument("words", metavar="UNIT", nargs="+", help="one unit, or two to compare; HOST:UNIT says where")
    _yes(parser)
    parser.add_argument("--levels", type=_numbers, metavar="N,N", help="requests at once (default: 1,2,4,8,16)")
    parser.add_argument("--repeats", type=_positive, metavar="N", help="turns of each unit (default: 3)")
    parser.add_argument(
        "--requests", type=_positive, metavar="N", help="requests of a level (default: by its concurrency)"
    )
    parser.add_argument("--max-tokens", type=_positive, metavar="N", help="longest answer (default: 256)")
    parser.add_argument(
        "--report", type=Path, metavar="FILE.html", help="where the report goes (default: state folder)"
    )


def _numbers(text: str) -> list[int]:
    return [_positive(word) for word in text.split(",")]


def _positive(text: str) -> int:
    """Argparse tells of the `ValueError` in its own words."""
    value = int(text)
    if value < 1:
        raise ValueError(text)
    return value


COMMANDS: dict[str, Command] = {
    **{name: Command("act", words, partial(_action, name), " on its hosts") for name, words in ACTIONS.items()},
    "probe": Command("probe", "watch one start until it is ready or dead, and say which and why", _probe),
    "logs": Command("logs", "merged journal of units over their hosts", _logs),
    "diagnose": Command(
        "diagnose",
        "the root cause of a failure, from its log",
        _diagnose,
        ": plain text, journalctl's short, -o json and -o export, container logs",
    ),
    "render": Command("render", "print the unit file as it would be pushed to each host", _unit),
    "advise": Command("advise", "say what will bite in a unit file", _advise),
    "diff": Command("diff", "compare the rendered unit with what each host has on disk, loaded and running", _unit),
    "push": Command("push", "put the unit file on its hosts: verified, atomic, undoable; no restart", _push),
    "rollback": Command("rollback", "put back what the last push of a unit replaced", _rollback),
    "overlay": Command("overlay", "files laid over an installed package: how they stand, push, restore", _overlay),
    "deploy": Command("deploy", "push, restart and probe, host after host", _deploy),
    "preflight": Command("preflight", "find every fault that shows without starting the unit", _preflight),
    "compare": Command("compare", "what differs between the environments of hosts", _compare),
    "sync": Command("sync", "make the packages of one host like those of another", _sync),
    "smoke": Command("smoke", "ask a service for one real completion: text, time to first token, tokens/s", _smoke),
    "bench": Command("bench", "measure a service, or compare two, with real requests", _bench),
}
