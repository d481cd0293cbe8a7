"""The keys by which a service is asked, and measured."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflashtui.tui.dialogs.menu import Menu
from dflashtui.tui.serving.sheet import Sheet

if TYPE_CHECKING:
    from tests.tui.fake import Console


async def smoke(c: Console) -> None:
    """Of the first unit, until it is proven."""
    await _choose(c, "o")
    await c.sees("proven: it answered", "tokens/s", "escape closes")


async def begin_bench(c: Console) -> None:
    """Of the first unit."""
    await _choose(c, "e")
    await c.sees("bench sglang-a on h-live")
    await c.press("enter")
    await c.until(lambda: isinstance(c.app.screen, Sheet))


async def _choose(c: Console, letter: str) -> None:
    await c.press("1", "enter", "a")
    await c.until(lambda: isinstance(c.app.screen, Menu))
    await c.press(letter)
