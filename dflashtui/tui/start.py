"""The way into the console: as little as possible before the first picture."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from dflashtui.tui.app import DflashApp, Options
from dflashtui.tui.outline import read_outline
from dflashtui.tui.themes import theme_folders

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from dflashtui.config.model import Config
    from dflashtui.fleet.base import Fleet


def now() -> datetime:
    """The clock of the console."""
    return datetime.now(UTC)


def run(
    path: Path | None,
    load_config: Callable[[], Config],
    make_fleet: Callable[[Config], Fleet],
    *,
    hosts: Sequence[str] = (),
    demo: bool = False,
    read_only: bool = False,
    ascii_only: bool = False,
) -> int:
    """Open the console and give its exit status.

    `path`: the inventory, for the first picture; `None`: the local machine alone. `load_config` and `make_fleet` are
    called in a thread behind the first picture: import what is slow inside them, and need no running loop.
    Raises `ConfigError`.
    """

    def load() -> tuple[Config, Fleet]:
        config = load_config()
        return config, make_fleet(config)

    outline = read_outline(path, hosts)
    options = Options(demo, read_only, ascii_only, theme_folders(), inventory=path)
    app = DflashApp(outline, load, options, now)
    status = app.run(mouse=outline.mouse)
    if app.failure:
        raise app.failure
    return status or app.return_code or 0
