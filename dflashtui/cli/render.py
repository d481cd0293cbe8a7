"""`dflashtui render UNIT`: the unit file as it would be pushed to each host."""

from __future__ import annotations

import hashlib
import json
import sys
from typing import TYPE_CHECKING

from dflashtui.cli.fleets import inventory, warned
from dflashtui.config.match import complete_unit_glob
from dflashtui.config.words import proposal, shown
from dflashtui.errors import ConfigError
from dflashtui.exit_code import ExitCode
from dflashtui.mask import masked
from dflashtui.ops.render import rendered
from dflashtui.text import printable
from dflashtui.unitfile.advice import advice

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dflashtui.cli.parser import Options
    from dflashtui.config.model import Config
    from dflashtui.ops.render import Rendered
    from dflashtui.unitfile.look import Advice


def run_render(options: Options) -> int:
    """Print it, once for all hosts that get the same text; what will bite goes to stderr."""
    config = warned(inventory(options))
    unit = complete_unit_glob(options.unit)
    found = everywhere(config, unit, options)
    if options.json:
        for one in found:
            sys.stdout.write(json.dumps(document(one)) + "\n")
    else:
        for same in grouped(found):
            sys.stdout.write(shown_text(same))
            _advise(same[0])
    return ExitCode.OK


def everywhere(config: Config, unit: str, options: Options) -> list[Rendered]:
    """The unit for each of its hosts, or for those of `--host`. Raises `ConfigError`."""
    defined = config.unit(unit)
    if defined is None:
        known = [one.name for one in config.units]
        raise ConfigError([f"the inventory defines no unit {shown(unit)}{proposal(unit, known, 'units')}"])
    hosts = [host.name for host in config.hosts if options.hosts or host.name in defined.hosts]
    if not hosts:
        raise ConfigError([f"{shown(unit)} has no hosts: name them in its table, or one with --host"])
    return [rendered(config, unit, host) for host in hosts]


def grouped(found: Sequence[Rendered]) -> list[list[Rendered]]:
    """Those with the same text together, in the order of the inventory."""
    groups: dict[str, list[Rendered]] = {}
    for one in found:
        groups.setdefault(one.text, []).append(one)
    return list(groups.values())


def shown_text(same: Sequence[Rendered]) -> str:
    """A comment with the hosts, and the text, secrets masked."""
    head = f"# {same[0].unit} on {', '.join(one.host for one in same)}, from {same[0].origin}"
    lines = (printable(masked(line), limit=1 << 20) for line in same[0].text.splitlines())
    return "".join(f"{line}\n" for line in (printable(head), *lines, ""))


def _advise(one: Rendered) -> None:
    if one.text != "\n".join(map(masked, one.text.split("\n"))):
        sys.stderr.write(f"dflashtui: {one.unit}: secrets are masked here; push writes them as they are\n")
    for each in advice(one.text, name=one.unit):
        sys.stderr.write(f"dflashtui: {advice_line(each, one.unit)}\n")


def advice_line(each: Advice, name: str) -> str:
    """`sglang.service:5: warning: …; do this`."""
    place = each.file or name
    line = f":{each.line}" if each.line else ""
    return printable(f"{place}{line}: {each.level}: {each.message}; {each.remedy} [{each.id}]")


def document(one: Rendered) -> dict[str, object]:
    """What a script gets of one host; `sha256` is of the whole text, secrets and all."""
    return {
        "schema": 1,
        "host": one.host,
        "unit": one.unit,
        "origin": one.origin,
        "sha256": hashlib.sha256(one.text.encode()).hexdigest(),
        "text": "\n".join(map(masked, one.text.split("\n"))),
        "advice": [each.model_dump(mode="json") for each in advice(one.text, name=one.unit)],
    }
