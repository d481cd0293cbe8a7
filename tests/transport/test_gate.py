"""The handshake gate: a few at once, a slow one holds up nobody."""

import asyncio

import pytest

from dflashtui.transport import gate
from dflashtui.transport.gate import HandshakeGate


async def test_no_more_than_the_limit_shake_hands_at_once() -> None:
    gate = HandshakeGate(3)
    inside, most = 0, 0

    async def one() -> None:
        nonlocal inside, most
        async with gate.turn():
            inside += 1
            most = max(most, inside)
            await asyncio.sleep(0)
            inside -= 1

    await asyncio.gather(*(one() for _ in range(20)))
    assert most == 3


async def test_one_that_takes_long_gives_its_turn_away_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gate, "LONGEST_TURN_SECONDS", 0.01)
    only = HandshakeGate(1)
    async with only.turn(), only.turn():
        pass
    async with only.turn():
        monkeypatch.setattr(gate, "LONGEST_TURN_SECONDS", 600)
        waiting = asyncio.create_task(only.turn().__aenter__())
        await asyncio.sleep(0)
        assert not waiting.done()
        waiting.cancel()


async def test_a_crowd_at_one_door_leaves_other_doors_free() -> None:
    gate = HandshakeGate(1)
    async with gate.door("a"), gate.door("b"):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01), gate.door("a"):
                pass
