"""Links that end: in the middle of a command, of a stream, silently, in order; outcomes are never guessed."""

import asyncio
from collections.abc import AsyncIterator, Callable
from pathlib import PurePosixPath

import pytest

from dflashtui.errors import TransportLost, Unreachable
from dflashtui.transport import ssh_config, ssh_way
from dflashtui.transport.base import Transport
from tests.faults.marks import fault
from tests.faults.seed import seeded
from tests.support.ssh_server import LoopbackServer
from tests.support.tcp_proxy import TcpProxy, tcp_proxy
from tests.support.until import until

from .conftest import Connect, Home


@pytest.fixture
async def proxy(home: Home, server: LoopbackServer) -> AsyncIterator[TcpProxy]:
    async with tcp_proxy(server.port) as proxy:
        home.know(server, port=proxy.port)
        yield proxy


@pytest.fixture
async def transport(connect: Connect, proxy: TcpProxy) -> AsyncIterator[Transport]:
    async with connect(None, port=proxy.port) as transport:
        yield transport


async def running(transport: Transport, server: LoopbackServer) -> "asyncio.Task[object]":
    """A command that has begun on the host."""
    task: asyncio.Task[object] = asyncio.create_task(transport.run(["sleep", "600"]))
    await until(lambda: server.running)
    return task


@pytest.mark.parametrize("end", ["cut", "farewell", "server"])
async def test_a_command_under_way_has_an_unknown_outcome(
    transport: Transport, server: LoopbackServer, proxy: TcpProxy, end: str
) -> None:
    task = await running(transport, server)
    {"cut": proxy.cut, "farewell": server.farewell, "server": server.cut}[end]()
    done = await task
    assert done.exit_status is None  # type: ignore[attr-defined]  # a Completed
    with pytest.raises(TransportLost, match="gpu-a: sleep"):
        done.check()  # type: ignore[attr-defined]


@pytest.mark.parametrize("end", ["cut", "farewell"])
async def test_a_stream_under_way_is_lost_after_its_last_bytes(
    transport: Transport, server: LoopbackServer, proxy: TcpProxy, end: str
) -> None:
    async with transport.stream(["sh", "-c", "echo before; exec sleep 600"]) as stream:
        chunks = aiter(stream)
        assert await anext(chunks) == b"before\n"
        {"cut": proxy.cut, "farewell": server.farewell}[end]()
        with pytest.raises(TransportLost):
            await anext(chunks)
        assert stream.exit_status is None
        with pytest.raises(TransportLost):
            await stream.write(b"x")


@fault("A5", how="cut after the request, before its answer", result="the outcome is unknown")
async def test_a_command_whose_start_was_not_confirmed_has_an_unknown_outcome(
    transport: Transport, server: LoopbackServer, proxy: TcpProxy
) -> None:
    server.on_exec = proxy.cut
    done = await transport.run(["true"])
    assert done.exit_status is None


async def test_nothing_can_be_asked_of_a_dead_link(transport: Transport, proxy: TcpProxy) -> None:
    proxy.cut()
    with pytest.raises(TransportLost):
        await transport.lost()
    with pytest.raises(TransportLost):
        await transport.run(["true"])
    with pytest.raises(TransportLost):
        async with transport.stream(["true"]):
            pass
    with pytest.raises(TransportLost):
        await transport.open_tcp("127.0.0.1", 1)
    with pytest.raises(TransportLost):
        async with transport.local_socket("/run/x"):
            pass
    with pytest.raises(TransportLost):
        await transport.put(b"x", PurePosixPath("/nowhere/x"), mode=0o600)


async def test_the_loss_is_told_with_its_reason(transport: Transport, server: LoopbackServer) -> None:
    waiting = asyncio.create_task(transport.lost())
    server.farewell()
    with pytest.raises(TransportLost, match="gpu-a: "):
        await waiting


@fault("A2", how="the host's side is gone, ours is told nothing (half-open)", result="noticed by keepalive")
@pytest.mark.parametrize("dies", [TcpProxy.freeze, TcpProxy.half_open])
async def test_a_path_that_dies_silently_is_noticed_by_keepalive(
    connect: Connect,
    proxy: TcpProxy,
    server: LoopbackServer,
    monkeypatch: pytest.MonkeyPatch,
    dies: Callable[[TcpProxy], None],
) -> None:
    monkeypatch.setitem(ssh_config.OURS, "keepalive_interval", 0.05)
    async with connect(None, port=proxy.port) as transport:
        task = await running(transport, server)
        dies(proxy)
        with pytest.raises(TransportLost, match="no sign of life"):
            await transport.lost()
        assert (await task).exit_status is None  # type: ignore[attr-defined]


async def test_leaving_a_dead_path_does_not_wait_for_it(
    connect: Connect, proxy: TcpProxy, server: LoopbackServer
) -> None:
    """Fails by the limit of the test, far below what TCP would take."""
    async with asyncio.timeout(10), connect(None, port=proxy.port) as transport:
        async with transport.stream(["sh", "-c", "echo begun; exec sleep 600"]) as stream:
            await anext(aiter(stream))
            proxy.freeze()
        assert not stream.stderr


async def test_a_file_that_was_under_way_is_of_unknown_outcome(
    transport: Transport, server: LoopbackServer, proxy: TcpProxy, tmp_path: PurePosixPath
) -> None:
    server.prelude = "sleep 600; "
    task = asyncio.create_task(transport.put(b"new", PurePosixPath(tmp_path / "x"), mode=0o600))
    await until(lambda: server.running)
    proxy.cut()
    with pytest.raises(TransportLost, match="look which text it holds"):
        await task


async def test_a_link_cut_at_any_byte_of_an_upload_leaves_the_old_file_or_the_new(
    home: Home, server: LoopbackServer, connect: Connect, tmp_path: PurePosixPath
) -> None:
    """The sender's own cut: what arrived is not all, and the host notices by size and sum."""
    from dflashtui.transport.remote_file import put_argv  # noqa: PLC0415 - only here

    folder = tmp_path / "units"
    async with connect(server) as transport:
        await transport.run(["mkdir", "-p", str(folder)])
        path = PurePosixPath(folder / "x.service")
        await transport.put(b"old text", path, mode=0o644)
        for length in range(9):
            done = await transport.run(put_argv(b"new text!", path, 0o644), stdin=b"new text!"[:length])
            assert done.exit_status == 1
            assert b"of 9 bytes arrived" in done.stderr
        assert (await transport.run(["cat", str(path)])).stdout == b"old text"
        same_size = await transport.run(put_argv(b"new text!", path, 0o644), stdin=b"new texT!")
        assert b"arrived damaged" in same_size.stderr
        assert (await transport.run(["ls", "-A", str(folder)])).stdout == b"x.service\n"


@pytest.mark.parametrize("way", ["there", "back"])
@fault("A2", how="cut after seeded bytes of login and command", result="unreachable, lost or unknown; never a guess")
async def test_a_link_cut_at_any_byte_is_told_as_that(
    home: Home, server: LoopbackServer, connect: Connect, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    monkeypatch.setattr(ssh_way, "RETRIES_SECONDS", ())
    async with tcp_proxy(server.port) as proxy:
        home.know(server, port=proxy.port)
        direction = getattr(proxy, way)
        assert await outcome(connect, proxy) == "0"
        whole, outcomes = direction.passed_bytes, set[str]()
        for limit in (0, *sorted(seeded(way).sample(range(1, whole), 11)), whole - 1):
            direction.passed_bytes, direction.cut_after_bytes = 0, limit
            async with asyncio.timeout(20):
                outcomes.add(await outcome(connect, proxy))
    assert "Unreachable" in outcomes
    assert outcomes <= {"Unreachable", "TransportLost", "unknown", "0"}


async def outcome(connect: Connect, proxy: TcpProxy) -> str:
    """Of a login and a command."""
    try:
        async with connect(None, port=proxy.port) as transport:
            done = await transport.run(["sh", "-c", "head -c 20000 /dev/zero"])
    except (Unreachable, TransportLost) as failure:
        return type(failure).__name__
    assert done.exit_status is None or len(done.stdout) == 20_000
    return "unknown" if done.exit_status is None else str(done.exit_status)


@fault("A19", how="byte by byte, 0.1 s each way", result="everything arrives; nothing is called dead")
async def test_a_path_that_dribbles_works(home: Home, server: LoopbackServer, connect: Connect) -> None:
    async with tcp_proxy(server.port) as proxy:
        home.know(server, port=proxy.port)
        proxy.delay_seconds, proxy.most_bytes = 0.1, 1
        async with connect(None, port=proxy.port) as transport:
            done = await transport.run(["cat"], stdin=bytes(range(256)))
    assert (done.stdout, done.exit_status, proxy.connections) == (bytes(range(256)), 0, 1)
