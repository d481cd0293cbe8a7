"""Makes the pictures of the README from the real console on the demo: `make screenshots`."""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

from dflashtui.config.read import load
from dflashtui.demo.clock import StandingClock
from dflashtui.demo.fleet import DemoFleet
from dflashtui.paths import shared
from dflashtui.tui.app import DflashApp, Options
from dflashtui.tui.outline import read_outline
from dflashtui.tui.screen import MainScreen

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.pilot import Pilot

HERE = Path(__file__).parent
SIZE = (164, 44)
PICTURES = {
    "console.svg": ("2", "down"),
    "fleet.svg": (),
    "gpu.svg": ("4",),
    "restart.svg": ("2", "R"),
}
"""File names, and the keys that lead there."""
STEP_SECONDS, STEPS = 2.0, 90
"""Three minutes of history for the plots."""
PATIENCE_SECONDS = 20.0


async def until(pilot: Pilot[int], condition: Callable[[], bool], what: str) -> None:
    """Wait for a condition. Raises `TimeoutError`."""
    end = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError(what)
        await pilot.pause(0.02)


async def picture(name: str, keys: tuple[str, ...]) -> None:
    """One picture: a fresh console, three minutes later."""
    clock, inventory = StandingClock(), shared("hosts.toml")
    config = load(inventory)
    fleet = DemoFleet(config, clock=clock)
    options = Options(demo=True, theme_folders=(shared("themes"),))
    app = DflashApp(read_outline(inventory), lambda: (config, fleet), options, clock)
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: isinstance(app.screen, MainScreen), "the console did not open")
        for _ in range(STEPS):
            await fleet.advance(STEP_SECONDS)
            await pilot.pause()
        await pilot.press(*keys)
        screen = next(one for one in app.screen_stack if isinstance(one, MainScreen))
        if screen.log_pane is not None:
            await until(pilot, lambda: bool(screen.log_pane and screen.log_pane.items_shown()), "no log was shown")
        screen.draw()
        await pilot.pause(0.2)
        svg = app.export_screenshot(title="dflashtui --demo")
    await asyncio.to_thread((HERE / name).write_text, svg, encoding="utf-8")


async def main() -> None:
    """All of them."""
    for name, keys in PICTURES.items():
        await picture(name, keys)
        print(f"docs/{name}")  # noqa: T201 - a script for a person


if __name__ == "__main__":
    os.environ["TZ"] = "UTC"
    time.tzset()
    asyncio.run(main())
