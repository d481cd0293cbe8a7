"""The local file that a unit comes from, in the person's own editor; the inventory read again afterwards."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING

from dflashtui.config.read import load
from dflashtui.config.templates import own_template

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from dflashtui.config.model import Config

EDITOR = "vi"
"""POSIX has it wherever there is an editor at all."""


def file_to_edit(config: Config, unit: str) -> Path | None:
    """The unit's own file, its template beside the inventory, else the inventory; `None`: there is no file at all."""
    defined = config.unit(unit)
    if config.path is None or defined is None:
        return config.path
    if defined.file is not None:
        return config.path.parent / defined.file
    own = own_template(defined.template, config.path.parent) if defined.template else None
    return own or config.path


def editor_argv(path: Path) -> tuple[str, ...]:
    """`$VISUAL`, else `$EDITOR`, with its own arguments, and the file."""
    words = os.environ.get("VISUAL") or os.environ.get("EDITOR") or EDITOR
    return (*(shlex.split(words) or (EDITOR,)), str(path))


def read_again(config: Config) -> tuple[Config, Sequence[str]]:
    """The inventory as it is now, with the hosts that this console looks at; and what of it needs a new start.

    Raises `ConfigError`: the old inventory stays.
    """
    if config.path is None:
        return config, ()
    new = load(config.path)
    known = {host.name: host for host in new.hosts}
    changed = [host.name for host in config.hosts if known.get(host.name) != host]
    added = [name for name in known if name not in {host.name for host in config.hosts}]
    words = [f"hosts changed: {', '.join(changed)}"] * bool(changed) + [f"hosts added: {', '.join(added)}"] * bool(
        added
    )
    return new.model_copy(update={"hosts": config.hosts, "groups": config.groups}), words
