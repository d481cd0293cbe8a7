"""No line is lost unsaid: numbered lines of three real hosts, over cuts at any byte and whatever befalls journald."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING

import pytest

from tests.faults.journal_proof import trials
from tests.faults.marks import fault
from tests.faults.seed import SEED, seeded

if TYPE_CHECKING:
    from pathlib import Path

    from tests.faults.journal_proof import Trial
    from tests.fleet.harness.fleet import TestFleet


async def prove(fleet: TestFleet, folder: Path, cuts: int) -> None:
    """Cut the way to three hosts so often, all together, then account for every line."""
    rng = seeded("journal proof")
    async with trials(fleet, rng, folder) as hosts:
        await asyncio.gather(*(_torment(one, hosts, cuts) for one in hosts))
        await asyncio.gather(*(one.finish() for one in hosts))
    sys.stderr.write("".join(f"\n{one.figures}" for one in hosts) + f"\nseed {SEED}\n")
    for one in hosts:
        one.check()


async def _torment(trial: Trial, hosts: list[Trial], cuts: int) -> None:
    while sum(one.cuts for one in hosts) < cuts:
        await trial.trouble_journald()
        await trial.cut()
        if trial.rng.random() < 0.5:  # else: cut again before anything could be read
            await trial.seen_on()


@fault("D6", how="20 cuts, rotations, restarts, kills, clock steps", result="every line once, or under a gap line")
async def test_no_line_is_lost_unsaid(fleet: TestFleet, tmp_path: Path) -> None:
    await prove(fleet, tmp_path, 20)


@fault("D6", how="1 000 seeded cuts, rotations, kills, clock steps", result="every line once, or under a gap line")
@pytest.mark.long
@pytest.mark.timeout(3600)
async def test_no_line_is_lost_unsaid_over_a_thousand_cuts(fleet: TestFleet, tmp_path: Path) -> None:
    await prove(fleet, tmp_path, 1000)
