"""A unit's text as it would stand on a host: from a template, or from a file that is pushed as it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflashtui.config.file import read
from dflashtui.config.templates import PACKAGED
from dflashtui.config.words import listed, shown
from dflashtui.errors import ConfigError, RenderError
from dflashtui.model.base import Value
from dflashtui.text import printable
from dflashtui.unitfile.reading import read as read_unit

if TYPE_CHECKING:
    from pathlib import Path

    from dflashtui.config.model import Config, Host, Unit


class Rendered(Value):
    """The text of one unit for one host."""

    host: str
    unit: str
    text: str
    origin: str
    """`template sglang`, or the path of the template or file."""


def rendered(config: Config, unit: str, host: str) -> Rendered:
    """The unit as it would be pushed to the host. Reads local files alone. Raises `RenderError`."""
    wanted, target = _defined(config, unit, host)
    if wanted.file is not None:
        text, origin = _plain(config, wanted.file, unit, host), str(wanted.file)
    elif wanted.template is not None:
        from dflashtui.ops.render_template import text_of  # noqa: PLC0415 - Jinja2 costs 60 ms, and a file needs none

        text, origin = text_of(config, wanted, target, wanted.template)
    else:
        problem = f"sets neither template nor file; the packaged templates are: {listed(PACKAGED)}"
        raise RenderError(host, unit, f'{_inventory(config)}: units."{unit}": {problem}')
    if not read_unit(text).entries:
        raise RenderError(host, unit, f"{printable(origin)}: renders nothing that systemd would read")
    return Rendered(host=host, unit=unit, text=text if text.endswith("\n") else f"{text}\n", origin=origin)


def _inventory(config: Config) -> str:
    return printable(str(config.path)) if config.path else "the inventory"


def _defined(config: Config, unit: str, host: str) -> tuple[Unit, Host]:
    wanted = config.unit(unit)
    if wanted is None:
        raise RenderError(host, unit, f"{_inventory(config)} defines no unit {shown(unit)}; add a table for it")
    try:
        return wanted, config.host(host)
    except KeyError:
        raise RenderError(host, unit, f"{_inventory(config)} defines no host {shown(host)}") from None


def _plain(config: Config, path: Path, unit: str, host: str) -> str:
    """The file as it is: beside hosts.toml, or where an absolute path says."""
    where = f'{_inventory(config)}: units."{unit}".file'
    folder = config.path.absolute().parent if config.path else path.parent
    leaves = ".." in path.parts or (path.is_relative_to(folder) and not path.resolve().is_relative_to(folder.resolve()))
    if leaves:
        raise RenderError(
            host, unit, f"{where}: {printable(str(path))} leaves the folder; write the absolute path itself"
        )
    try:
        return read(path).text
    except ConfigError as wrong:
        raise RenderError(host, unit, f"{where}: {wrong.problems[0]}") from wrong
