"""Options and commands (contract, part 1). Imports nothing that costs time."""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from dflashtui import __version__
from dflashtui.exit_code import ExitCode

if TYPE_CHECKING:
    from collections.abc import Sequence

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
EPILOG = """\
exit codes: 0 all well, 1 warnings, 2 something failed, 3 could not look, 64 wrong use, 130 interrupted
the inventory: -c FILE, else ./hosts.toml, else $XDG_CONFIG_HOME/dflashtui/hosts.toml, else this machine alone
"""


@dataclass(frozen=True, slots=True)
class Options:
    """What was asked for; `command`: `console`, `check`, `logs`, `probe`, `diagnose`, or one of `ACTIONS`."""

    command: str = "console"
    unit: str = ""
    config: Path | None = None
    demo: bool = False
    hosts: tuple[str, ...] = ()
    units: tuple[str, ...] = ()
    json: bool = False
    timeout_seconds: float | None = None
    read_only: bool = False
    no_color: bool = False
    ascii: bool = False
    verbose: bool = False
    yes: bool = False
    signal: str | None = None
    no_probe: bool = False
    start: bool = False
    follow: bool = False
    lines: int | None = None
    since: str | None = None
    grep: str | None = None
    priority: str | None = None
    files: tuple[Path, ...] = ()


class _Parser(argparse.ArgumentParser):
    """Wrong use ends with 64, not with argparse's 2, which means that something failed."""

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(ExitCode.USAGE, f"{self.prog}: {message}\n")


def parse(argv: Sequence[str]) -> Options:
    """Raises `SystemExit` with 64 for wrong use, 0 for `--help` and `--version`."""
    parser = _parser()
    found = vars(parser.parse_args(_with_times(argv)))
    if found.pop("check", False):
        if found.get("command"):
            parser.error(f"--check looks at all hosts; it does not go with the command {found['command']!r}")
        found["command"] = "check"
    found["command"] = found.get("command") or "console"
    found["files"] = tuple(found.get("files") or ())
    for name in ("hosts", "units"):
        found[name] = (*(found.get(name) or ()), *(found.get(f"{name}_after") or ()))
    known = {field.name for field in fields(Options)}
    return Options(**{name: value for name, value in found.items() if name in known and value is not None})


def _with_times(argv: Sequence[str]) -> list[str]:
    """`--since -10m` as journalctl's users type it: argparse would take `-10m` for an option."""
    joined: list[str] = []
    for word in argv:
        if joined and joined[-1] == "--since":
            joined[-1] = f"--since={word}"
        else:
            joined.append(word)
    return joined


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="dflashtui",
        description="The operations console for LLM inference engines on GPU hosts.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"dflashtui {__version__}")
    parser.add_argument("--check", action="store_true", help="look once at every host and unit, print findings, exit")
    parser.add_argument("--demo", action="store_true", help="a simulated fleet: no host, GPU or network is needed")
    _common(parser, first=True)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands", parser_class=_Parser)
    for name, words in ACTIONS.items():
        _action(commands.add_parser(name, help=words, description=f"{words} on its hosts"), name)
    _probe(commands.add_parser("probe", help="watch one start until it is ready or dead, and say which and why"))
    _logs(commands.add_parser("logs", help="merged journal of a unit over its hosts"))
    _diagnose(commands.add_parser("diagnose", help="the root cause of a failure, from its log"))
    return parser


def _common(parser: argparse.ArgumentParser, *, first: bool) -> None:
    """Options that may stand before and after the command; the later place wins where it is used."""
    unset = None if first else argparse.SUPPRESS
    after = "" if first else "_after"  # argparse would let the later place replace the earlier one
    group = parser.add_argument_group("common options")
    group.add_argument("-c", "--config", type=Path, metavar="FILE", default=unset, help="inventory to use")
    for flag, words in (("--host", "only these hosts"), ("--unit", "only these units")):
        dest = f"{flag[2:]}s{after}"
        group.add_argument(flag, dest=dest, action="append", metavar="GLOB", help=f"{words} (repeatable)")
    group.add_argument(
        "--timeout", dest="timeout_seconds", type=_seconds, metavar="SECONDS", default=unset, help="end after this long"
    )
    for flag, words in (
        ("--json", "print JSON"),
        ("--read-only", "no changing action exists"),
        ("--no-color", "no colour (as NO_COLOR)"),
        ("--ascii", "no character beyond ASCII in frames and marks"),
    ):
        group.add_argument(flag, action="store_true", default=unset, help=words)
    group.add_argument("-v", "--verbose", action="store_true", default=unset, help="log to stderr")


def _action(parser: argparse.ArgumentParser, name: str) -> None:
    parser.add_argument("unit", metavar="UNIT")
    parser.add_argument("-y", "--yes", action="store_true", help="do not ask, whatever the weight of the action")
    if name == "kill":
        parser.add_argument("-s", "--signal", default="SIGTERM", help="signal to send (default: SIGTERM)")
    if name in {"start", "restart"}:
        parser.add_argument("--no-probe", action="store_true", help="do not watch the start until it is ready or dead")
    _common(parser, first=False)


def _probe(parser: argparse.ArgumentParser) -> None:
    parser.description = "watch one start of a unit until it is ready or dead: says which, and why"
    parser.add_argument("unit", metavar="UNIT")
    parser.add_argument("--start", action="store_true", help="start it first; the start is watched from its beginning")
    parser.add_argument("-y", "--yes", action="store_true", help="with --start: do not ask, whatever its weight")
    _common(parser, first=False)


def _logs(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("unit", metavar="UNIT")
    parser.add_argument("-f", "--follow", action="store_true", help="go on with new lines")
    parser.add_argument("-n", "--lines", type=int, metavar="N", help="the last N lines of each host (default: 100)")
    parser.add_argument("--since", metavar="TIME", help="from this time on, as journalctl reads it")
    parser.add_argument("--grep", metavar="REGEX", help="only lines that match, as journalctl --grep")
    parser.add_argument("-p", "--priority", metavar="LEVEL", help="this level and worse, as journalctl -p")
    _common(parser, first=False)


def _diagnose(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "the root cause of a log: plain text, journalctl's short, -o json and -o export, container logs"
    )
    parser.add_argument("files", metavar="FILE", nargs="*", type=Path, help="a log; none or -: standard input")
    _common(parser, first=False)


def _seconds(text: str) -> float:
    value = float(text)
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is no time span in seconds")
    return value
