"""Units that share a GPU run in turn: one is stopped, its memory is free, the other is started and watched."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Protocol

from dflashtui.errors import OperationError
from dflashtui.model.action import UnitAction, Verb
from dflashtui.model.unit import ActiveState
from dflashtui.ops.units import act

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from dflashtui.config.model import Config
    from dflashtui.model.action import ActionResult
    from dflashtui.model.host import HostSnapshot
    from dflashtui.ops.audit import Audit

    Watch = Callable[[UnitAction, asyncio.Future[ActionResult]], Awaitable[str | None]]

RELEASE_SECONDS = 60.0
RELEASE_STEP_SECONDS = 0.25
DOWN = frozenset({ActiveState.INACTIVE, ActiveState.FAILED})
Place = tuple[str, str]
"""Host and unit."""


class Acted(Protocol):
    """What is needed of a fleet."""

    def snapshot(self, host: str) -> HostSnapshot:
        """See `Fleet`."""

    async def perform(self, action: UnitAction) -> ActionResult:
        """See `Fleet`."""


def must_share(config: Config, places: Sequence[Place]) -> bool:
    """Whether some of them are to run on the same GPU of the same host."""
    if len(places) != 2:  # noqa: PLR2004 - a pair
        return False
    (first_host, first), (second_host, second) = places
    if first_host != second_host:
        return False
    one, other = config.unit(first), config.unit(second)
    return bool(one and other and set(one.gpus) & set(other.gpus)) or first == second


class Switch:
    """Gives the GPU to one unit at a time; `restore` leaves the units as they were found."""

    def __init__(
        self, fleet: Acted, config: Config, audit: Audit, watch: Watch, places: Sequence[Place], *, read_only: bool
    ) -> None:
        """`watch(action, result)` waits until a start is ready: `None`, or what became of it instead."""
        self._fleet = fleet
        self._config = config
        self._audit = audit
        self._watch = watch
        self._read_only = read_only
        self._places = tuple(dict.fromkeys(places))
        self._were_running = {place: self._is_running(place) for place in self._places}

    async def give_to(self, place: Place) -> None:
        """Stop the others, wait for their memory, start this one until it is ready. Raises `OperationError`."""
        for other in self._places:
            if other != place and self._is_running(other):
                await self._stop(other)
        if not self._is_running(place):
            await self._start(place)

    async def restore(self) -> None:
        """As it was found. What is started again is not waited for. Raises `OperationError`."""
        for place, was_running in self._were_running.items():
            if not was_running and self._is_running(place):
                await self._stop(place)
        for place, was_running in self._were_running.items():
            if was_running and not self._is_running(place):
                await self._perform(self._action(Verb.START, place))

    def _is_running(self, place: Place) -> bool:
        host, unit = place
        status = self._fleet.snapshot(host).unit(unit)
        return status is not None and status.active_state not in DOWN

    def _action(self, verb: Verb, place: Place) -> UnitAction:
        host, unit = place
        return UnitAction(verb=verb, host=host, unit=unit, manager=self._config.host(host).manager)

    async def _perform(self, action: UnitAction) -> ActionResult:
        result = await self._result(action)
        if result.ok is False:
            raise OperationError(result.message)
        return result

    async def _start(self, place: Place) -> None:
        action = self._action(Verb.START, place)
        asked: asyncio.Future[ActionResult] = asyncio.get_running_loop().create_future()
        async with asyncio.TaskGroup() as group:
            watching = group.create_task(_words(self._watch(action, asked)))
            asked.set_result(await self._result(action))
        if trouble := watching.result():
            raise OperationError(f"{action.host}: {action.unit}: {trouble}")

    async def _result(self, action: UnitAction) -> ActionResult:
        """One action has one result."""
        results = [one async for one in act([action], self._fleet, self._audit, read_only=self._read_only)]
        return results[0]

    async def _stop(self, place: Place) -> None:
        await self._perform(self._action(Verb.STOP, place))
        host, unit = place
        try:
            async with asyncio.timeout(RELEASE_SECONDS):
                while self._is_running(place) or self._holds_memory(place):  # noqa: ASYNC110 - snapshots tell, nobody else
                    await asyncio.sleep(RELEASE_STEP_SECONDS)
        except TimeoutError:
            raise OperationError(
                f"{host}: {unit}: still holds its GPU {RELEASE_SECONDS:.0f} s after its stop"
            ) from None

    def _holds_memory(self, place: Place) -> bool:
        host, unit = place
        gpus = self._fleet.snapshot(host).gpus or ()
        return any(process.unit == unit for gpu in gpus for process in gpu.processes or ())


async def _words(watching: Awaitable[str | None]) -> str | None:
    return await watching
