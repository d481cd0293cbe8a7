"""`dflashtui diff UNIT`: rendered, on disk, loaded, running."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import TYPE_CHECKING

from dflashtui.cli.fleets import inventory, warned
from dflashtui.cli.hosts_looked_at import Here, looking
from dflashtui.cli.render import everywhere
from dflashtui.config.match import complete_unit_glob
from dflashtui.exit_code import ExitCode, worst
from dflashtui.ops.diff import Layer, LayerState, grouped, unit_diff
from dflashtui.ops.overlay import overlay_files
from dflashtui.text import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from dflashtui.cli.parser import Options
    from dflashtui.config.model import Config
    from dflashtui.ops.diff import DiffGroup, LayerDiff, UnitDiff
    from dflashtui.ops.render import Rendered

LINE_LIMIT = 1 << 20


def run_diff(options: Options) -> int:
    """Print each difference once, with its hosts: 0 the same everywhere, 1 it differs."""
    config = warned(inventory(options))
    unit = complete_unit_glob(options.unit)
    return asyncio.run(_run(config, everywhere(config, unit, options), options))


async def _run(config: Config, texts: Sequence[Rendered], options: Options) -> ExitCode:
    unit = texts[0].unit
    async with looking(config, [one.host for one in texts], unit, options, overlay_files(config, unit)) as here:
        diffs = differences(texts, here)
    if options.json:
        for one in diffs:
            sys.stdout.write(json.dumps(document(one)) + "\n")
    else:
        sys.stdout.writelines(shown(grouped(diffs)))
    return worst(here.code, *(ExitCode.WARNING for one in diffs if one.differs))


def differences(texts: Sequence[Rendered], here: Here) -> list[UnitDiff]:
    """Of the hosts that could be looked at."""
    return [
        unit_diff(one, here.seen[one.host].look, here.seen[one.host].overlays) for one in texts if one.host in here.seen
    ]


def shown(groups: Sequence[DiffGroup]) -> Iterator[str]:
    """What is so on which hosts, as comments; the differences as diff(1) writes them."""
    for group in groups:
        first = group.first
        count = f" ({len(group.hosts)} hosts)" if len(group.hosts) > 1 else ""
        yield _line(f"# {first.unit} on {', '.join(group.hosts)}{count}")
        for position, layer in enumerate(first.layers):
            yield _line(f"# {layer.layer.value}: {layer.words}{_ages(group, position)}")
            yield from (_line(line) for line in layer.lines)
        yield from (_line(f"# note: {note}") for note in first.notes)


def _ages(group: DiffGroup, position: int) -> str:
    """Since when, for each host where there are several."""
    ages = [(diff.host, diff.layers[position].age) for diff in group.diffs if diff.layers[position].age]
    if len(group.hosts) == 1:
        return f" ({ages[0][1]})" if ages else ""
    return f" ({', '.join(f'{host} {age}' for host, age in ages)})" if ages else ""


def _line(text: str) -> str:
    return f"{printable(text, limit=LINE_LIMIT)}\n"


def document(diff: UnitDiff) -> dict[str, object]:
    """What a script gets of one host."""
    return {
        "schema": 1,
        "host": diff.host,
        "unit": diff.unit,
        "path": diff.path,
        "sha256": diff.sha256,
        "differs": diff.differs,
        "layers": [_layer(one) for one in diff.layers],
        "notes": list(diff.notes),
    }


def _layer(layer: LayerDiff) -> dict[str, object]:
    return {
        "layer": layer.layer.value.replace("on ", ""),
        "state": layer.state.value,
        "message": layer.words,
        "since": layer.age,
        "diff": "".join(f"{line}\n" for line in layer.lines),
    }


def would_change(texts: Sequence[Rendered], here: Here) -> Iterator[str]:
    """The part of the difference that a push would take away."""
    changed = (one.model_copy(update={"layers": _of_push(one), "notes": ()}) for one in differences(texts, here))
    yield from shown(grouped(one for one in changed if one.layers))


def _of_push(diff: UnitDiff) -> tuple[LayerDiff, ...]:
    layers = {Layer.DISK, Layer.OVERLAY}
    return tuple(one for one in diff.layers if one.layer in layers and one.state is not LayerState.SAME)
