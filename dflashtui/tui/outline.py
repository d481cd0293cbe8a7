"""The little of hosts.toml that the first picture needs, read without judging it: `config.read` does that behind it."""

from __future__ import annotations

import os
import tomllib
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

DEFAULT_THEME = "dflash-dark"


class Outline(NamedTuple):
    """Names to draw before anything is known about them."""

    hosts: tuple[str, ...] = ()
    theme: str = DEFAULT_THEME
    mouse: bool = True


def read_outline(path: Path | None, globs: Sequence[str] = ()) -> Outline:
    """The outline of an inventory; empty when the file cannot be read, for `config.read` will say why."""
    try:
        said: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8")) if path else {}
    except (OSError, ValueError):
        return Outline()
    hosts = said.get("hosts") if path else {os.uname().nodename: {}}
    console = said.get("console")
    console = console if isinstance(console, dict) else {}
    names = tuple(hosts) if isinstance(hosts, dict) else ()
    kept = tuple(name for name in names if not globs or any(fnmatchcase(name, glob) for glob in globs))
    theme, mouse = console.get("theme", DEFAULT_THEME), console.get("mouse", True)
    return Outline(kept, theme if isinstance(theme, str) else DEFAULT_THEME, mouse is not False)
