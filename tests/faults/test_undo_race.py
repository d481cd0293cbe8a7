"""A confirmation that arrives as the host's own undo fires: one of the two happens, and the word is true."""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING

import pytest

from dflashtui.model.push import Outcome
from dflashtui.ops.push import Push, Terms, new_change, wanted_text
from tests.faults import starts
from tests.faults.marks import fault
from tests.faults.seed import SEED, seeded
from tests.faults.watcher import watched
from tests.fleet.push_hosts import entry, on
from tests.support.until import until

if TYPE_CHECKING:
    from tests.fleet.harness.fleet import TestFleet

HOST = "gpu-b"
ARMED_SECONDS = 0.6
AROUND_SECONDS = (-0.05, 0.25)
"""The timer fires up to 0.1 s late (AccuracySec), and its program needs a moment to begin."""
OLD, NEW = starts.text("old"), starts.text("new")


async def race(fleet: TestFleet, rounds: int) -> Counter[str]:
    """Arm, push, confirm at about the moment; the file against the word each time."""
    host, chances, outcomes = entry(fleet, HOST), seeded("undo race"), Counter[str]()
    with starts.counted(fleet, HOST, OLD), watched(fleet.hosts[HOST], starts.PATH) as watch:
        for _ in range(rounds):
            old = fleet.read_file(HOST, starts.PATH).decode()
            wanted, change = NEW if old == OLD else OLD, new_change()
            async with on(host) as asking:
                async with on(host) as arming:
                    await arming.arm_undo(change, ARMED_SECONDS, restart=None)
                due = asyncio.get_running_loop().time() + ARMED_SECONDS + chances.uniform(*AROUND_SECONDS)
                push = Push(wanted_text(HOST, starts.UNIT, wanted, "a test"), Terms(force=True, change=change))
                pushed = await push.run(partial(on, host))
                await asyncio.sleep(due - asyncio.get_running_loop().time())
                is_off = await asking.disarm_undo(change)
            await until(partial(is_quiet, fleet))
            there = fleet.read_file(HOST, starts.PATH).decode()
            said = "confirmed" if is_off else "undone"
            assert there == (wanted if is_off and pushed.outcome is Outcome.DONE else old), f"{said}: {pushed}"
            outcomes[said] += 1
    watch.require_whole(starts.PATH, OLD, NEW)
    return outcomes


def is_quiet(fleet: TestFleet) -> bool:
    """Whether no undo is armed or at work."""
    return b"dflashtui-undo" not in fleet.check(HOST, "systemctl", "list-units", "--all", "--no-legend")


@fault("A7", how="confirmed as the timer fires, once", result="confirmed or undone, as the file says")
async def test_a_confirmation_as_the_undo_fires(fleet: TestFleet) -> None:
    assert (await race(fleet, 1)).total() == 1


@pytest.mark.long
@pytest.mark.timeout(600)
@fault("A7", how="confirmed at the limit − 50 to + 250 ms, 100 times", result="confirmed or undone, as the file says")
async def test_a_hundred_confirmations_as_the_undo_fires(fleet: TestFleet, capsys: pytest.CaptureFixture[str]) -> None:
    outcomes = await race(fleet, 100)
    with capsys.disabled():
        sys.stdout.write(f"\n100 confirmations as the undo fires, seed {SEED}: {dict(outcomes)}\n")
    assert len(outcomes) == 2
