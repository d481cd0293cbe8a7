"""Options and commands (contract, part 1). Imports nothing that costs time."""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from dflashtui import __version__
from dflashtui.cli.parser_commands import COMMANDS
from dflashtui.exit_code import ExitCode

if TYPE_CHECKING:
    from collections.abc import Sequence

EPILOG = """\
exit codes: 0 all well, 1 warnings, 2 something failed, 3 could not look, 64 wrong use, 130 interrupted
the inventory: -c FILE, else ./hosts.toml, else $XDG_CONFIG_HOME/dflashtui/hosts.toml, else this machine alone
"""


@dataclass(frozen=True, slots=True)
class Options:
    """What was asked for; `command`: `console`, `check`, or a name of `COMMANDS`."""

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
    output: str = "short"
    kernel: bool = False
    files: tuple[Path, ...] = ()
    words: tuple[str, ...] = ()
    """What a command takes in a row: hosts to compare, packages to sync, files to advise on."""
    dry_run: bool = False
    force: bool = False
    list: bool = False
    to: int | None = None
    step: str = ""
    rollback: bool = False
    wave: int | None = None
    no_preflight: bool = False
    stop_old: bool = False
    fix: bool = False
    all: bool = False
    python: str | None = None
    package: str | None = None
    copy: bool = False
    undo: bool = False
    prompt: str | None = None
    levels: tuple[int, ...] = ()
    repeats: int | None = None
    max_tokens: int | None = None
    requests: int | None = None
    report: Path | None = None


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
    for name in ("files", "words"):
        found[name] = tuple(found.get(name) or ())
    found["levels"] = tuple(found.get("levels") or ())
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
    for name, command in COMMANDS.items():
        added = commands.add_parser(name, help=command.words, description=command.description)
        command.add_arguments(added)
        _common(added, first=False)
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


def _seconds(text: str) -> float:
    value = float(text)
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is no time span in seconds")
    return value
