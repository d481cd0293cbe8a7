"""Where files are: what the package ships, and what belongs to the person."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from platformdirs import PlatformDirs

if TYPE_CHECKING:
    from collections.abc import Callable

DIRS = PlatformDirs("dflashtui", appauthor=False)
PACKAGE = Path(__file__).resolve().parent
LOG_NAME = "dflashtui.log"
NO_HOME = Path("/nonexistent")
"""Debian's home of accounts that have none: nothing is there, and nobody but root can make it."""


def shared(name: str) -> Path:
    """A shipped file or folder (`themes`, `hosts.toml`): from the wheel, or from the checkout beside the package."""
    packaged = PACKAGE / "_shared" / name
    return packaged if packaged.exists() else PACKAGE.parent / name


def config_folder() -> Path:
    """`$XDG_CONFIG_HOME/dflashtui`, by default `~/.config/dflashtui`."""
    return _absolute(lambda: DIRS.user_config_path, ".config/dflashtui")


def state_folder() -> Path:
    """`$XDG_STATE_HOME/dflashtui`, by default `~/.local/state/dflashtui`; not created here."""
    return _absolute(lambda: DIRS.user_state_path, ".local/state/dflashtui")


def _absolute(folder: Callable[[], Path], below_home: str) -> Path:
    """Never relative: without `HOME` and without an entry in passwd, `~` would be a folder in the working directory."""
    try:
        path = folder()
    except RuntimeError:  # platformdirs from 4.14 on; before, `~` stayed as it is
        return NO_HOME / below_home
    return path if path.is_absolute() else NO_HOME / below_home
