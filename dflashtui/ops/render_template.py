"""Unit templates: Jinja2 in a sandbox that reads two folders and nothing else."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from jinja2 import FileSystemLoader, StrictUndefined, TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from dflashtui import paths
from dflashtui.config.templates import SUFFIX, own_template
from dflashtui.errors import RenderError
from dflashtui.unitfile import quoting

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from dflashtui.config.model import Config, Host, Unit

PACKAGED_FOLDER = paths.PACKAGE / "templates"


def text_of(config: Config, unit: Unit, host: Host) -> tuple[str, str]:
    """The text, and where it comes from. Raises `RenderError`."""
    own = own_template(unit.template or "", _folder(config))
    environment = _environment(_folder(config) / "templates" if own else PACKAGED_FOLDER)
    try:
        text = environment.get_template(f"{unit.template}{SUFFIX}").render(_values(unit, host))
    except (TemplateError, ValueError) as wrong:
        raise RenderError(host.name, unit.name, f"template {unit.template}: {wrong}") from wrong
    return text, str(own) if own else f"template {unit.template}"


def _folder(config: Config) -> Path:
    return config.path.absolute().parent if config.path else PACKAGED_FOLDER


def _environment(folder: Path) -> ImmutableSandboxedEnvironment:
    environment = ImmutableSandboxedEnvironment(
        loader=FileSystemLoader(folder), undefined=StrictUndefined, keep_trailing_newline=True, trim_blocks=True
    )
    environment.filters |= {"argument": quoting.argument, "plain": quoting.plain}
    return environment


def _values(unit: Unit, host: Host) -> dict[str, Any]:
    words = [unit.python or "python3", *unit.extra_args, *_options(unit)]
    environment = {"CUDA_VISIBLE_DEVICES": ",".join(map(str, unit.gpus))} if unit.gpus else {}
    environment |= unit.environment
    return {
        "unit": unit.model_dump(mode="json"),
        "host": host.model_dump(mode="json"),
        "vars": dict(host.vars),
        "words": words,
        "assignments": [quoting.assignment(*pair) for pair in environment.items()],
    }


def _options(unit: Unit) -> Iterator[str]:
    for name, value in unit.args.items():
        if value is not False:
            yield f"--{name}"
        if value is not True and value is not False:
            yield value if isinstance(value, str) else json.dumps(value)
