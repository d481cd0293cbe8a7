"""A unit's text as it would stand on a host: from a template, or from a file that is pushed as it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflashtui.config.file import read
from dflashtui.errors import ConfigError, RenderError
from dflashtui.model.base import Value

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
    wanted, defined = _defined(config, unit, host)
    if wanted.file is not None:
        return Rendered(host=host, unit=unit, text=_plain(wanted.file, unit, host), origin=str(wanted.file))
    if wanted.template is None:
        raise RenderError(host, unit, f'[units."{unit}"] has neither template nor file; add template = "sglang"')
    from dflashtui.ops.render_template import text_of  # noqa: PLC0415 - Jinja2 costs 40 ms

    text, origin = text_of(config, wanted, defined)
    return Rendered(host=host, unit=unit, text=text, origin=origin)


def _defined(config: Config, unit: str, host: str) -> tuple[Unit, Host]:
    wanted = config.unit(unit)
    if wanted is None:
        raise RenderError(host, unit, f'{config.path or "the inventory"} has no table [units."{unit}"]')
    try:
        return wanted, config.host(host)
    except KeyError:
        raise RenderError(host, unit, f"{config.path or 'the inventory'} has no table [hosts.{host}]") from None


def _plain(path: Path, unit: str, host: str) -> str:
    try:
        return read(path).text
    except ConfigError as wrong:
        raise RenderError(host, unit, f"file: {wrong.problems[0]}") from wrong
