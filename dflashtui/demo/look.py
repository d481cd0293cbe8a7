"""One look at the simulated fleet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflashtui.demo.fleet import DemoFleet
from dflashtui.model.host import LinkState

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dflashtui.config.model import Config
    from dflashtui.model.host import HostSnapshot


class DemoLook:
    """See `check.run.Look`."""

    is_demo = True

    def __init__(self, config: Config) -> None:
        self._fleet = DemoFleet(config)

    @property
    def names(self) -> Sequence[str]:
        """Host names, in the order of the inventory."""
        return self._fleet.names

    def snapshot(self, host: str) -> HostSnapshot:
        """What is known of a host so far."""
        return self._fleet.snapshot(host)

    async def run(self) -> None:
        """Until every simulated host has answered, or failed to."""
        async with self._fleet, self._fleet.subscribe() as changes:
            async for _ in changes:
                if all(self.snapshot(name).link.state is not LinkState.CONNECTING for name in self.names):
                    return
