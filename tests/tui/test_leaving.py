"""The console can be left in any moment, the first ones too."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from dflashtui.tui.app import DflashApp
from tests.support.until import until
from tests.tui.fake import FakeFleet, app_on
from tests.tui.stage import LIVE

if TYPE_CHECKING:
    import pytest
    from textual.worker import Worker

    from dflashtui.tui.screen import MainScreen


async def test_leaving_before_the_first_step_of_the_fleet_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its worker is called off before it runs: nothing of it will ever happen, so nothing of it may be waited for."""
    follow, begun = DflashApp.follow, list[object]()

    def called_off(app: DflashApp, screen: MainScreen) -> Worker[None]:
        worker = follow(app, screen)
        worker.cancel()
        begun.append(worker)
        return worker

    monkeypatch.setattr(DflashApp, "follow", called_off)
    fleet = FakeFleet(LIVE)
    async with asyncio.timeout(10), app_on(fleet).run_test():
        await until(lambda: begun)
    assert not fleet.is_open
