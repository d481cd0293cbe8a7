"""`dflashtui advise FILE…|UNIT`: what will bite in a unit file."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from dflashtui.cli.fleets import inventory
from dflashtui.cli.render import advice_line, everywhere, grouped
from dflashtui.config.match import complete_unit_glob
from dflashtui.errors import ConfigError
from dflashtui.exit_code import ExitCode, worst
from dflashtui.text import decoded, printable
from dflashtui.unitfile.advice import advice

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dflashtui.cli.parser import Options
    from dflashtui.unitfile.look import Advice

STDIN = "-"
LARGEST_BYTES = 16 << 20
CODES = {"error": ExitCode.FAILED, "warning": ExitCode.WARNING, "note": ExitCode.OK}


def run_advise(options: Options) -> int:
    """Print what is worth saying about each file, or about a unit of the inventory as it would be pushed."""
    codes = []
    for word in options.words:
        try:
            codes += [_told(name, text, unit, options) for name, text, unit in _texts(word, options)]
        except OSError as failed:
            sys.stderr.write(f"dflashtui: {printable(word)}: {failed.strerror or failed}\n")
            codes.append(ExitCode.UNKNOWN)
    return worst(*codes)


def _texts(word: str, options: Options) -> Iterator[tuple[str, str, str | None]]:
    """What to look at: its name to show, its text, and the unit's name where that is known."""
    path = Path(word)
    if word == STDIN:
        yield "stdin", decoded(sys.stdin.buffer.read(LARGEST_BYTES)), None
    elif "/" in word or path.exists():
        with path.open("rb") as file:
            yield word, decoded(file.read(LARGEST_BYTES)), path.name if path.suffix else None
    else:
        unit = complete_unit_glob(word)
        try:
            found = everywhere(inventory(options), unit, options)
        except ConfigError as wrong:
            raise ConfigError([f"{word} is no file here, and {problem}" for problem in wrong.problems]) from wrong
        for same in grouped(found):
            yield f"{unit} on {', '.join(one.host for one in same)}", same[0].text, unit


def _told(name: str, text: str, unit: str | None, options: Options) -> ExitCode:
    found = advice(text, name=unit)
    if options.json:
        document = {"schema": 1, "name": name, "advice": [each.model_dump(mode="json") for each in found]}
        sys.stdout.write(json.dumps(document) + "\n")
    else:
        sys.stdout.write("".join(f"{advice_line(each, name)}\n" for each in found) or _nothing(name))
    return _code(found)


def _nothing(name: str) -> str:
    return f"{printable(name)}: nothing to say\n"


def _code(found: tuple[Advice, ...]) -> ExitCode:
    return worst(*(CODES[each.level] for each in found))
