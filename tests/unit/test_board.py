"""The newest snapshot wins; events are never skipped."""

import asyncio
from datetime import UTC, datetime

from dflashtui.fleet.board import Board
from dflashtui.model.host import HostSnapshot, Link, LinkState

NOW = datetime(2031, 1, 2, tzinfo=UTC)
A, B = HostSnapshot(name="a"), HostSnapshot(name="b")
UP = Link(state=LinkState.UP)
DOWN = Link(state=LinkState.UNREACHABLE, error="timed out")


def board() -> Board:
    return Board([A, B], clock=lambda: NOW)


async def test_a_new_subscriber_sees_every_host_at_once() -> None:
    with board().subscribe() as changes:
        assert [(await anext(changes)).host, (await anext(changes)).host] == ["a", "b"]


async def test_a_slow_subscriber_gets_the_newest_snapshot_and_all_events() -> None:
    fleet = board()
    with fleet.subscribe() as changes:
        fleet.post(A.model_copy(update={"link": UP}))
        fleet.post(A.model_copy(update={"link": DOWN}))
        change = await anext(changes)
    assert change.snapshot.link.state is LinkState.UNREACHABLE
    assert [event.message for event in change.events] == ["connected", "unreachable: timed out"]


async def test_an_equal_snapshot_wakes_nobody() -> None:
    fleet = board()
    with fleet.subscribe() as changes:
        await anext(changes)
        await anext(changes)
        fleet.post(A.model_copy())
        waiting = asyncio.ensure_future(anext(changes))
        await asyncio.sleep(0)
        assert not waiting.done()
        fleet.post(A.model_copy(update={"link": UP}))
        assert (await waiting).snapshot.link == UP


async def test_subscribers_do_not_take_from_each_other() -> None:
    fleet = board()
    with fleet.subscribe() as one, fleet.subscribe() as two:
        fleet.post(A.model_copy(update={"link": UP}))
        assert (await anext(one)).events == (await anext(two)).events != ()
