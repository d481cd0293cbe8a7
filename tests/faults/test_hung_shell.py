"""A host whose login shells hang gets one command for each attempt: each of them stays there until the home answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from dflashtui.config.model import Config, Host
from dflashtui.errors import CommandTimeout
from dflashtui.fleet.board import Board
from dflashtui.fleet.host_state import HostState
from dflashtui.fleet.plan import first_snapshot, host_plan
from dflashtui.fleet.serve import BOOT_ID, HostService
from tests.faults.marks import fault
from tests.support.fake_transport import FakeTransport

if TYPE_CHECKING:
    from tests.support.fake_transport import FakeProcess


async def hangs(process: FakeProcess) -> int:
    """As a command that never began is told by the transport."""
    process.ended(CommandTimeout("a", "cat has not begun within 15 s"))
    return 0


class Hanging(FakeTransport):
    """A host on which nothing begins."""

    def __init__(self) -> None:
        super().__init__("a")
        self.programs[()] = hangs

    async def run(self, argv, **more):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN003, ANN201 - as the base
        self.asked.append(tuple(argv))
        raise CommandTimeout("a", f"{argv[0]} has not begun within 15 s")


@fault("B18", how="every command hangs, attempt after attempt", result="one command an attempt, no heap of shells")
async def test_the_next_attempt_asks_for_one_command_alone() -> None:
    config = Config(hosts=(Host(name="a", units=("x.service",)),))
    plan = host_plan(config, config.hosts[0])
    service = HostService(plan, HostState(plan, Board([first_snapshot(config, config.hosts[0])])))
    with pytest.raises(BaseExceptionGroup):
        await service.serve(Hanging())
    again = Hanging()
    with pytest.raises(CommandTimeout):
        await service.serve(again)
    assert again.asked == [BOOT_ID]
    assert service.state.snapshot.observed_at is None
