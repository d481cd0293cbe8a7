"""The text of a unit from its template, and every failure of it in the words of who edits hosts.toml."""

from __future__ import annotations

import traceback
from typing import TYPE_CHECKING

from jinja2 import TemplateNotFound, TemplateSyntaxError

from dflashtui.config.problems import Problem, refusal
from dflashtui.config.templates import SUFFIX, own_template
from dflashtui.config.words import shown
from dflashtui.errors import ConfigError, RenderError
from dflashtui.ops.render_sandbox import TooLongError, bounded, sandbox
from dflashtui.ops.render_values import UnfitValueError, options, values
from dflashtui.text import printable

if TYPE_CHECKING:
    from pathlib import Path

    from dflashtui.config.model import Config, Host, Unit

TEMPLATE_END = ".j2"
LIMIT_SECONDS = 3.0


def text_of(config: Config, unit: Unit, host: Host, template: str) -> tuple[str, str]:
    """The text, and where it comes from. Raises `RenderError`."""
    folder = config.path.absolute().parent if config.path else None
    own = own_template(template, folder) if folder else None
    origin = str(own) if own else f"template {template}"
    try:
        given = values(config, unit, host) | {"origin": f"templates/{own.name}" if own else origin}
        given["options"] = lambda defaults: options(_set(defaults), unit.args)
        with bounded(LIMIT_SECONDS):
            name = f"{template}{SUFFIX}" if own else f"packaged/{template}{SUFFIX}"
            return sandbox(folder / "templates" if folder else None).get_template(name).render(given), origin
    except UnfitValueError as unfit:
        raise RenderError(host.name, unit.name, _place(config.path, unfit)) from unfit
    except ConfigError as unreadable:
        raise RenderError(host.name, unit.name, unreadable.problems[0]) from unreadable
    except Exception as wrong:  # a template may do anything that an expression can: its author is told where
        raise RenderError(host.name, unit.name, _words(origin, wrong)) from wrong


def _set(defaults: dict[str, object]) -> dict[str, object]:
    """Without those that hosts.toml does not set."""
    from jinja2 import Undefined  # noqa: PLC0415 - loaded already

    return {name: value for name, value in defaults.items() if not isinstance(value, Undefined)}


def _place(path: Path | None, unfit: UnfitValueError) -> str:
    """`hosts.toml:12: units."a.service".environment.X: …`."""
    problem = Problem(str(unfit), unfit.keys)
    try:
        text = path.read_text() if path else ""
    except (OSError, ValueError):
        text = ""
    return refusal(path, text, [problem]).problems[0] if path else str(unfit)


def _words(origin: str, wrong: Exception) -> str:
    match wrong:
        case TemplateSyntaxError():
            return (
                f"{printable(wrong.filename or origin)}:{wrong.lineno}: {printable(wrong.message or 'is no template')}"
            )
        case TemplateNotFound():
            return (
                f"{_at(origin, wrong)}: there is no template {shown(wrong.name)} beside it or among the packaged ones"
            )
        case TooLongError():
            return f"{origin}: did not come to an end within {LIMIT_SECONDS:.0f} s; look for a loop in it"
        case RecursionError():
            return f"{_at(origin, wrong)}: includes or extends itself without an end"
        case _:
            return f"{_at(origin, wrong)}: {printable(str(wrong) or type(wrong).__name__)}"


def _at(origin: str, wrong: Exception) -> str:
    """The innermost line of a template."""
    frames = [frame for frame in traceback.extract_tb(wrong.__traceback__) if frame.filename.endswith(TEMPLATE_END)]
    return f"{printable(frames[-1].filename)}:{frames[-1].lineno}" if frames else origin
