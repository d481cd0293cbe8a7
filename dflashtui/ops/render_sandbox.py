"""Jinja2 in a sandbox: two folders, plain values, bounded time and size."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from functools import lru_cache
from time import monotonic
from typing import TYPE_CHECKING, Any

from jinja2 import BaseLoader, ChoiceLoader, PrefixLoader, StrictUndefined, TemplateNotFound
from jinja2.exceptions import SecurityError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from dflashtui import paths
from dflashtui.config.file import read
from dflashtui.config.words import did_you_mean
from dflashtui.ops.render_values import Table, spelled, title
from dflashtui.unitfile import quoting

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path
    from types import FrameType

PACKAGED_FOLDER = paths.PACKAGE / "templates"
LONGEST_TEXT = 1 << 20
LARGEST_POWER = 64
GLOBALS = ("dict", "namespace", "range")


class TooLongError(Exception):
    """A template did not come to an end in time."""


class Folder(BaseLoader):
    """Templates of one folder; never one that a name or a link takes out of it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def get_source(self, environment: Any, template: str) -> tuple[str, str, Callable[[], bool]]:  # noqa: ANN401, ARG002 - Jinja's
        """The text. Raises `TemplateNotFound`, `ConfigError`."""
        path = self._folder / template
        if not (path.is_file() and path.resolve().is_relative_to(self._folder.resolve())):
            raise TemplateNotFound(template)
        before = _stamp(path)
        return read(path).text, str(path), lambda: _stamp(path) == before


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


class Missing(StrictUndefined):
    """What a template names and nobody set."""

    @property
    def _undefined_message(self) -> str:
        owner, name = self._undefined_obj, str(self._undefined_name)
        if isinstance(owner, Table):
            return f"{title(owner)} in hosts.toml sets no {name}{did_you_mean(name, owner) or '; add it there'}"
        return self._undefined_hint or f"nothing is called {name} here"


class Sandbox(ImmutableSandboxedEnvironment):
    """Without a way to other files, to Python, or to texts of any length."""

    intercepted_binops = frozenset({"*", "**"})

    def getattr(self, obj: Any, attribute: str) -> Any:  # noqa: ANN401 - Jinja's
        """As Jinja, but a key of a table comes before a method of it: `vars.items`."""
        return obj[attribute] if isinstance(obj, Table) and attribute in obj else super().getattr(obj, attribute)

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:  # noqa: ANN401 - Jinja's
        """As Jinja, but for results that would fill the memory."""
        sizes = [len(side) for side in (left, right) if isinstance(side, str | list | tuple)]
        counts = [side for side in (left, right) if isinstance(side, int)]
        if operator == "**" and max((abs(count) for count in counts), default=0) > LARGEST_POWER:
            raise SecurityError(f"a power beyond {LARGEST_POWER} is refused")
        if operator == "*" and sizes and counts and sizes[0] * counts[0] > LONGEST_TEXT:
            raise SecurityError("a text of more than 1 MiB is refused")
        return super().call_binop(context, operator, left, right)


@lru_cache(maxsize=8)
def sandbox(own_folder: Path | None) -> Sandbox:
    """Own templates first, then the packaged ones, which are also called `packaged/…`. Keeps what it compiled."""
    packaged = Folder(PACKAGED_FOLDER)
    loaders: list[BaseLoader] = [PrefixLoader({"packaged": packaged}), packaged]
    if own_folder is not None:
        loaders.insert(1, Folder(own_folder))
    environment = Sandbox(
        loader=ChoiceLoader(loaders),
        undefined=Missing,
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "argument": lambda value: quoting.argument(_text(value)),
        "arguments": _arguments,
        "assignment": lambda name, value: quoting.assignment(_text(name), _text(value)),
        "plain": lambda value: quoting.plain(_text(value)),
        "json": spelled,
    }
    environment.globals = {name: environment.globals[name] for name in GLOBALS}
    return environment


def _arguments(found: Iterable[object]) -> str:
    return " ".join(quoting.argument(_text(value)) for value in found)


def _text(value: object) -> str:
    """Raises `UndefinedError` for what nobody set."""
    return str(value) if isinstance(value, Missing) else spelled(value)


@contextmanager
def bounded(limit_seconds: float) -> Iterator[None]:
    """Raise `TooLongError` from a template that still runs after that time.

    A loop without an end calls nothing that could be refused; the interpreter's own trace sees each of its lines.
    """
    deadline, before = monotonic() + limit_seconds, sys.gettrace()

    def trace(frame: FrameType, _event: str, _argument: object) -> Any:  # noqa: ANN401 - sys.settrace's own type
        if monotonic() > deadline:
            raise TooLongError
        return trace if frame.f_code.co_filename.endswith(".j2") else None

    sys.settrace(trace)
    try:
        yield
    finally:
        sys.settrace(before)
