"""The application: what stays the same on every screen. Imports no model: see `opening`."""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from textual import work
from textual.binding import Binding
from textual.worker import WorkerCancelled, WorkerFailed

from dflashtui.errors import ConfigError
from dflashtui.tui.ascii import AsciiFilter
from dflashtui.tui.garbage import TidiesWhenQuiet
from dflashtui.tui.going_on import GoesOn
from dflashtui.tui.hangup import LeavesInOrder
from dflashtui.tui.inventory_watch import InventoryWatch
from dflashtui.tui.messages import HostChanged
from dflashtui.tui.opening import OpeningScreen
from dflashtui.tui.outline import DEFAULT_THEME
from dflashtui.tui.own_faults import OwnFaults
from dflashtui.tui.styled import Cell, cell, join
from dflashtui.tui.themes import DEFAULTS, all_themes, find_theme
from dflashtui.tui.type_ahead import TypeAhead

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime
    from pathlib import Path

    from textual.binding import BindingType
    from textual.filter import LineFilter
    from textual.screen import Screen
    from textual.worker import Worker

    from dflashtui.config.model import Config
    from dflashtui.fleet.base import Fleet
    from dflashtui.tui.outline import Outline
    from dflashtui.tui.screen import MainScreen

    Loaded = tuple[Config, Fleet]


class Options(NamedTuple):
    """How the console was started."""

    demo: bool = False
    read_only: bool = False
    ascii_only: bool = False
    theme_folders: tuple[Path, ...] = ()
    inventory: Path | None = None
    """Watched for changes."""


def badges(options: Options) -> Cell:
    """What every screen says at the right of its header."""
    marks = ((" DEMO ", options.demo), (" READ-ONLY ", options.read_only))
    return join((cell(words, "badge") for words, holds in marks if holds), " ")


class DflashApp(OwnFaults, LeavesInOrder, GoesOn, TypeAhead, TidiesWhenQuiet[int]):
    """The console. `load` is called in a thread behind the first picture, so that its imports do not delay it."""

    CSS_PATH = "base.tcss"
    TITLE = "dflashtui"
    COMMAND_PALETTE_BINDING = "ctrl+p"
    COMMANDS = set()  # noqa: RUF012 - Textual declares it so; the main screen has its own
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "ctrl+q", "quit", "leave", show=False, priority=True, id="console.leave", tooltip="Leave from anywhere"
        ),
        Binding("ctrl+l", "repaint", "repaint", show=False, id="console.repaint", tooltip="Draw the screen anew"),
    ]

    def __init__(
        self, outline: Outline, load: Callable[[], Loaded], options: Options, clock: Callable[[], datetime]
    ) -> None:
        self.outline = outline
        self.options = options
        self.clock = clock
        self.failure: ConfigError | None = None
        """Why the console could not start; raised by `start.run` when the terminal is a plain one again."""
        self.theme_problems: list[str] = []
        self._load = load
        self._following: Worker[None] | None = None
        super().__init__()
        self.animation_level = "none" if "SSH_CONNECTION" in os.environ else "basic"
        self._choose_theme(outline.theme)

    def _choose_theme(self, name: str) -> None:
        """Use a theme; one that cannot be used is told later, and the default is taken."""
        try:
            theme = find_theme(name, self.options.theme_folders)
        except ConfigError as error:
            self.theme_problems += error.problems
            theme = None
        if theme:
            self.register_theme(theme)
        if name in self.available_themes:
            self.theme = name
            return
        if not self.theme_problems:
            self.theme_problems.append(f"no theme '{name}': ctrl+p, theme lists those there are")
        if name != DEFAULT_THEME:
            self._choose_theme(DEFAULT_THEME)

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Roles and tones, for themes that do not name them."""
        return DEFAULTS

    def get_line_filters(self) -> Sequence[LineFilter]:
        """The last step before the terminal."""
        return [*super().get_line_filters(), *((AsciiFilter(),) if self.options.ascii_only else ())]

    def get_default_screen(self) -> Screen[None]:
        """The first picture."""
        return OpeningScreen(self.outline, badges(self.options))

    def on_mount(self) -> None:
        """Go on once the first picture is out."""
        self.call_after_refresh(self.begin)

    @work(group="begin", exclusive=True)
    async def begin(self) -> None:
        """Import the rest, make the fleet, and show it."""
        try:
            config, fleet = await asyncio.to_thread(self._load)
        except ConfigError as error:
            self.failure = error
            self.exit()
            return
        from dflashtui.tui.screen import MainScreen  # noqa: PLC0415 - behind the first picture

        try:
            self._use_keymap(config)
        except ConfigError as error:
            self.failure = error
            self.exit()
            return
        self._use_themes()
        screen = MainScreen(config, fleet, self.options, self.clock)
        await self.push_screen(screen)
        for problem in (*self.theme_problems, *config.warnings):
            screen.warn(problem)
        self._following = self.follow(screen)
        if self.options.inventory is not None:
            self.watch_inventory(InventoryWatch(self.options.inventory), screen)

    def _use_keymap(self, config: Config) -> None:
        """Raises `ConfigError` when two actions have one key in the same scope."""
        from dflashtui.tui.keys import check_keymap  # noqa: PLC0415 - behind the first picture
        from dflashtui.tui.scopes import SCOPES  # noqa: PLC0415

        check_keymap(config.console.keymap, SCOPES)
        self.set_keymap(config.console.keymap)

    def _use_themes(self) -> None:
        """Make every theme known; say which files cannot be used."""
        themes, problems = all_themes(self.options.theme_folders)
        for theme in themes:
            self.register_theme(theme)
        self.theme_problems = list(dict.fromkeys([*self.theme_problems, *problems]))

    @work(group="fleet", exclusive=True)
    async def follow(self, screen: MainScreen) -> None:
        """The only place where the fleet meets Textual."""
        async with screen.fleet as fleet, fleet.subscribe() as changes:
            async for change in changes:
                screen.post_message(HostChanged(change))

    @work(group="inventory", exclusive=True)
    async def watch_inventory(self, watch: InventoryWatch, screen: MainScreen) -> None:
        """Say when it was changed, once for each change."""
        while True:
            await asyncio.sleep(watch.pause_seconds)
            if words := await asyncio.to_thread(watch.look):
                screen.warn(words)

    async def on_unmount(self) -> None:
        """Leave no connection behind: the fleet needs less than a second, and none if it was never entered."""
        if self._following:
            self._following.cancel()
            with suppress(WorkerCancelled, WorkerFailed):
                await self._following.wait()

    def action_repaint(self) -> None:
        """Draw everything anew, for a terminal that another program wrote on."""
        self.screen.refresh(layout=True)
