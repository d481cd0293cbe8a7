"""Few sessions, as sshd's MaxSessions allows: commands take turns, followed ones give way, nobody insists."""

import asyncio
from contextlib import AsyncExitStack

import pytest

from dflashtui.errors import SourceUnavailable
from dflashtui.transport import ssh_sessions
from dflashtui.transport.ssh_sessions import STREAMS
from tests.faults.marks import fault
from tests.support.ssh_server import LoopbackServer
from tests.support.until import until

from .conftest import Connect

FOLLOW = ("sh", "-c", "echo begun; exec cat")


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ssh_sessions, "WAITS_SECONDS", (0.05,) * 5)


@pytest.mark.parametrize("allowed", [1, 2, 3])
@fault("A13", how="one or two sessions", result="commands take turns")
async def test_commands_take_turns_where_few_sessions_are_allowed(
    server: LoopbackServer, connect: Connect, allowed: int
) -> None:
    server.max_sessions = allowed
    async with connect(server) as transport:
        done = await asyncio.gather(*(transport.run(["sh", "-c", f"echo {number}"]) for number in range(12)))
    assert [each.stdout for each in done] == [f"{number}\n".encode() for number in range(12)]
    assert server.most_sessions == allowed
    assert server.refusals <= 4


async def test_at_most_four_commands_run_at_once(server: LoopbackServer, connect: Connect) -> None:
    async with connect(server) as transport:
        await asyncio.gather(*(transport.run(["sleep", "0.01"]) for _ in range(12)))
    assert server.most_sessions == 4


async def test_a_followed_command_gives_way_to_a_short_one(server: LoopbackServer, connect: Connect) -> None:
    server.max_sessions = 1
    async with connect(server) as transport, transport.stream(FOLLOW) as stream:
        chunks = aiter(stream)
        assert await anext(chunks) == b"begun\n"
        command = asyncio.create_task(transport.run(["echo", "short"]))
        with pytest.raises(SourceUnavailable, match=r"gpu-a: session: sshd allows 1 session\(s\) at once"):
            await anext(chunks)
        assert (await command).stdout == b"short\n"
        with pytest.raises(SourceUnavailable, match="sshd allows 1 at once"):
            async with transport.stream(FOLLOW):
                pass


async def test_with_two_sessions_one_is_followed(server: LoopbackServer, connect: Connect) -> None:
    server.max_sessions = 2
    async with connect(server) as transport, transport.stream(FOLLOW) as stream:
        chunks = aiter(stream)
        await anext(chunks)
        await asyncio.gather(*(transport.run(["true"]) for _ in range(4)))
        with pytest.raises(SourceUnavailable, match="sshd allows 2 at once"):
            async with transport.stream(FOLLOW):
                pass
        await stream.write(b"still here")
        assert await anext(chunks) == b"still here"


@fault("A13", how="no session is left", result="told after a few requests")
async def test_no_session_at_all_is_told_after_a_few_requests(server: LoopbackServer, connect: Connect) -> None:
    server.max_sessions = 0
    async with connect(server) as transport:
        with pytest.raises(SourceUnavailable, match="sshd allows none: open failed"):
            await transport.run(["true"])
    assert server.refusals == 6


async def test_a_slot_held_by_a_command_that_lives_on_is_waited_for(server: LoopbackServer, connect: Connect) -> None:
    """A closed channel frees no slot; only the end of its command does."""
    server.max_sessions = 1
    async with connect(server) as transport:
        running = asyncio.create_task(transport.run(["sh", "-c", "trap '' TERM; sleep 0.3"]))
        await until(lambda: server.running)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert (await transport.run(["echo", "later"])).stdout == b"later\n"


async def test_more_than_four_are_not_followed(server: LoopbackServer, connect: Connect) -> None:
    async with connect(server) as transport, AsyncExitStack() as stack:
        for _ in range(STREAMS):
            await stack.enter_async_context(transport.stream(FOLLOW))
        with pytest.raises(SourceUnavailable, match="4 commands are followed already"):
            await stack.enter_async_context(transport.stream(FOLLOW))
        assert (await transport.run(["true"])).exit_status == 0


async def test_giving_up_while_a_channel_opens_leaves_none_open(server: LoopbackServer, connect: Connect) -> None:
    async with connect(server) as transport:
        for steps in range(12):
            asking = asyncio.create_task(transport.run(["sleep", "600"]))
            for _ in range(steps):
                await asyncio.sleep(0)
            asking.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asking
        await until(lambda: server.sessions == 0)
        await until(lambda: transport.channels == 0)


async def test_sshd_signals_are_used_where_they_are_passed_on(server: LoopbackServer, connect: Connect) -> None:
    server.passes_signals = True
    async with connect(server) as transport, transport.stream((*FOLLOW[:2], "echo begun; exec sleep 600")) as stream:
        await anext(aiter(stream))
    assert server.sessions == 0
    assert server.most_sessions == 1


async def test_forbidden_forwardings_are_told_with_the_option(server: LoopbackServer, connect: Connect) -> None:
    server.allows_sockets = server.allows_tcp = False
    async with connect(server) as transport:
        with pytest.raises(SourceUnavailable, match=r"/run/bus: sshd forbids to reach it .AllowStreamLocalForwarding"):
            async with transport.local_socket("/run/bus"):
                pass
        with pytest.raises(SourceUnavailable, match=r"127\.0\.0\.1:80: sshd forbids to reach it .AllowTcpForwarding"):
            await transport.open_tcp("127.0.0.1", 80)
