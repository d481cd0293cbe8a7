"""An inventory that is edited while the console runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflashtui.tui.app import DflashApp
from dflashtui.tui.inventory_watch import AS_READ, InventoryWatch
from tests.faults.marks import fault
from tests.tui.fake import console
from tests.tui.stage import LIVE

if TYPE_CHECKING:
    from pathlib import Path


def test_each_change_is_told_once(tmp_path: Path) -> None:
    path = tmp_path / "hosts.toml"
    path.write_text("[hosts.a]\n")
    watch = InventoryWatch(path)
    assert watch.look() is None
    path.write_text("[hosts.a]\n[hosts.b]\n")
    assert watch.look() == f"hosts.toml was changed; {AS_READ}"
    assert watch.look() is None
    other = tmp_path / "new"
    other.write_text(path.read_text())
    other.replace(path)
    assert watch.look() == f"hosts.toml was changed; {AS_READ}"
    path.unlink()
    assert watch.look() == f"hosts.toml is gone; {AS_READ}"
    assert watch.look() is None


@fault("G5", how="hosts.toml is edited while the console runs", result="said; what was read stays in use")
async def test_the_console_says_that_it_goes_on_with_what_it_has_read(tmp_path: Path) -> None:
    path = tmp_path / "hosts.toml"
    path.write_text("[hosts.a]\n")
    async with console(LIVE) as c:
        before = c.screen.config
        assert isinstance(c.app, DflashApp)
        c.app.watch_inventory(InventoryWatch(path, 0.02), c.screen)
        path.write_text("broken [[[\n")
        await c.sees("hosts.toml was changed")
        assert c.screen.config is before
