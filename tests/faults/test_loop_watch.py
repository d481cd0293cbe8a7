"""The watchdog that stands beside every test of the console."""

from __future__ import annotations

import asyncio
from time import thread_time

import pytest

from tests.faults.marks import fault
from tests.support.loop_watch import loop_watch


def compute(seconds: float) -> None:
    began = thread_time()
    while thread_time() - began < seconds:
        pass


async def held(seconds: float) -> None:
    asyncio.get_running_loop().call_soon(compute, seconds)
    await asyncio.sleep(0)
    await asyncio.sleep(0)


@fault("H9", how="something that computes on the event loop", result="any test of the console in which it does fails")
async def test_what_holds_the_loop_fails_its_test() -> None:
    with loop_watch(0.5):
        await held(0.01)
    with pytest.raises(AssertionError, match=r"the event loop was held: .*0\.\d s"), loop_watch(0.05):
        await held(0.1)
