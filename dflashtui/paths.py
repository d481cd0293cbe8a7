"""Where files are: what the package ships, and what belongs to the person."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from platformdirs import PlatformDirs

DIRS = PlatformDirs("dflashtui", appauthor=False)


def shared(name: str) -> Path:
    """A shipped file or folder (`themes`, `hosts.toml`): from the wheel, or from the checkout beside the package."""
    package = Path(str(files("dflashtui")))
    packaged = package / "_shared" / name
    return packaged if packaged.exists() else package.parent / name


def config_folder() -> Path:
    """`$XDG_CONFIG_HOME/dflashtui`, by default `~/.config/dflashtui`."""
    return DIRS.user_config_path


def state_folder() -> Path:
    """`$XDG_STATE_HOME/dflashtui`, by default `~/.local/state/dflashtui`; not created here."""
    return DIRS.user_state_path
