"""One look at the simulated fleet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dflashtui.demo.fleet import DemoFleet
from dflashtui.errors import DflashError
from dflashtui.fleet.causes import cause_of
from dflashtui.fleet.look_causes import CAUSE_LINES
from dflashtui.model.host import LinkState

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from dflashtui.config.model import Config
    from dflashtui.model.finding import Cause
    from dflashtui.model.host import HostSnapshot
    from dflashtui.model.journal import JournalItem


class DemoLook:
    """See `check.run.Look`."""

    is_demo = True

    def __init__(self, config: Config) -> None:
        self._fleet = DemoFleet(config)
        self._causes: dict[str, tuple[Cause, ...]] = {}

    @property
    def names(self) -> Sequence[str]:
        """Host names, in the order of the inventory."""
        return self._fleet.names

    def snapshot(self, host: str) -> HostSnapshot:
        """What is known of a host so far."""
        return self._fleet.snapshot(host).model_copy(update={"causes": self._causes.get(host, ())})

    async def run(self) -> None:
        """Until every simulated host has answered, or failed to."""
        async with self._fleet, self._fleet.subscribe() as changes:
            async for _ in changes:
                if all(self.snapshot(name).link.state is not LinkState.CONNECTING for name in self.names):
                    break
            for name in self.names:
                self._causes[name] = tuple([cause async for cause in self._found(name)])

    async def _found(self, host: str) -> AsyncIterator[Cause]:
        for unit in self.snapshot(host).units or ():
            cause = cause_of(host, unit, await self._history(host, unit.name)) if unit.has_failed else None
            if cause:
                yield cause

    async def _history(self, host: str, unit: str) -> tuple[JournalItem, ...]:
        try:
            return await self._fleet.history(host, unit, lines=CAUSE_LINES)
        except DflashError:
            return ()  # the demo's host is not there: nothing can be told
