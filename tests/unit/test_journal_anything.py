"""Whatever happens to link, journal and readers: every line once and in order, or a gap in its place."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dflashtui.fleet.journal_hub import JournalHub
from dflashtui.model.journal import JournalEntry
from tests.unit.journal_fakes import FakeHost
from tests.unit.test_journal_hub import Reader, followed, until

if TYPE_CHECKING:
    from collections.abc import Callable

A, B = "a.service", "b.service"
STEPS = st.sampled_from(
    ["a", "b", "other", "burst", "cut", "join", "vacuum", "tell", "watch", "unwatch", "read a", "read b", "breathe"]
)


class Happenings:
    """A host, its hub and its readers, and what was written there."""

    def __init__(self, stack: AsyncExitStack, lines: int) -> None:
        self.host = FakeHost()
        self.host.lags = True
        self.hub = JournalHub("gpu-a")
        self.written: list[str] = []
        self.readers: list[tuple[str, Reader]] = []
        self._stack = stack
        self._lines = lines

    def line(self, unit: str) -> None:
        self.host.log(str(len(self.written)), unit)
        self.written.append(unit)

    def burst(self) -> None:
        for _ in range(8):
            self.line(A)

    def vacuum(self) -> None:
        self.host.vacuum(keep=3)

    async def read(self, unit: str) -> None:
        """One more reader, who reads on and on."""
        reader = Reader(await self._stack.enter_async_context(self.hub.subscribe(unit, lines=self._lines)))
        self.readers.append((unit, reader))
        group = await self._stack.enter_async_context(asyncio.TaskGroup())
        task = group.create_task(reader.until("the end"))
        self._stack.callback(task.cancel)

    async def step(self, name: str) -> None:
        steps: dict[str, Callable[[], None]] = {
            "a": lambda: self.line(A),
            "b": lambda: self.line(B),
            "other": lambda: self.line("other.service"),
            "burst": self.burst,
            "cut": self.host.cut,
            "join": self.host.join,
            "vacuum": self.vacuum,
            "tell": self.host.tell_followers,
            "watch": lambda: self.hub.watch([A, B]),
            "unwatch": lambda: self.hub.watch([A]),
        }
        if name in steps:
            steps[name]()
        elif name == "breathe":
            await asyncio.sleep(0.005)
        else:
            await self.read(f"{name[-1]}.service")

    def check(self, unit: str, reader: Reader) -> None:
        """Lines rise, and between two that do not follow each other stands a gap."""
        own = [number for number, its_unit in enumerate(self.written) if its_unit == unit]
        order = {number: position for position, number in enumerate(own)}
        last: int | None = None
        gap_between = False
        for item in reader.seen:
            if not isinstance(item, JournalEntry):
                gap_between = True
                continue
            position = order[int(item.message)]
            assert last is None or position == last + 1 or (gap_between and position > last)
            last, gap_between = position, False


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(STEPS, max_size=50), st.integers(1, 12))
def test_every_line_once_and_in_order_or_a_gap(steps: list[str], lines: int) -> None:
    asyncio.run(_happen(steps, lines))


@pytest.mark.parametrize(
    "steps",
    [
        "read a,breathe,a,tell,breathe,cut,burst,vacuum,join,breathe,a,tell",
        "watch,breathe,burst,read a,breathe,tell,breathe,a,tell",
        "watch,breathe,burst,burst,tell,read b,b,breathe,b,tell,read a,a,breathe,tell",
        "read a,breathe,a,tell,cut,b,a,read b,join,breathe,b,tell,cut,join,breathe",
        "read a,a,breathe,read b,b,unwatch,b,a,breathe,watch,b,a,breathe,tell",
    ],
)
async def test_what_has_bitten_before(steps: str) -> None:
    await _happen(["breathe", *steps.split(","), "breathe"], 3)


async def _happen(steps: list[str], lines: int) -> None:
    async with AsyncExitStack() as stack:
        world = Happenings(stack, lines)
        world.line(A)
        world.hub.watch([A])
        await stack.enter_async_context(followed(world.hub, world.host))
        for name in steps:
            await world.step(name)
        world.host.join()
        world.host.lags = False
        world.host.tell_followers()
        for unit, reader in world.readers:
            await until(lambda reader=reader: bool(reader.batches))  # type: ignore[misc]  # a default binds it now
            world.line(unit)
            last = str(len(world.written) - 1)
            await until(lambda reader=reader, last=last: last in reader.messages)  # type: ignore[misc]  # as above
            world.check(unit, reader)
