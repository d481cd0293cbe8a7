"""Hosts that cannot be reached: why, in words, and never for longer than the limit."""

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

import pytest

from dflashtui.errors import TransportMisconfigured, Unreachable
from dflashtui.transport import ssh_dial, ssh_login, ssh_way
from tests.faults.marks import fault
from tests.support.ssh_server import LoopbackServer
from tests.support.until import until

from .conftest import Connect, Home

Answer = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
VERSION = b"SSH-2.0-OpenSSH_9.2p1\r\n"


@asynccontextmanager
async def listener(answer: Answer) -> AsyncIterator[int]:
    """A TCP server that does what `answer` does; its port."""

    busy: set[asyncio.Task[None] | None] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        busy.add(asyncio.current_task())
        with suppress(OSError):
            await answer(reader, writer)
        writer.close()
        busy.discard(asyncio.current_task())

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]
    await until(lambda: not busy)


async def reason(connect: Connect, **words: object) -> str:
    with pytest.raises(Unreachable) as failure:
        async with connect(None, **words):
            pass
    assert failure.value.host == "gpu-a"
    assert failure.value.transient
    return failure.value.reason


async def until_closed(reader: asyncio.StreamReader) -> None:
    while await reader.read(65536):
        pass


async def silent(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
    await until_closed(reader)


async def rude(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Closes at once."""


async def web(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 400 Bad Request\r\nServer: \x1b]0;owned\x07\r\n\r\n")
    await until_closed(reader)


async def endless_line(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while True:
        writer.write(b"x" * 65536)
        await writer.drain()


async def endless_banner(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while True:
        writer.write(b"All work and no play\r\n" * 1000)
        await writer.drain()


async def version_only(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(VERSION)
    await until_closed(reader)


async def rubbish_after_version(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(VERSION + b"\xff" * 1000)
    await until_closed(reader)


async def old(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b"SSH-1.5-old\r\n")
    await until_closed(reader)


async def hangs_up_after_version(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(VERSION)


@pytest.fixture(autouse=True)
def short_limits(monkeypatch: pytest.MonkeyPatch, home: Home) -> None:
    monkeypatch.setattr(ssh_dial, "CONNECT_SECONDS", 0.3)
    monkeypatch.setattr(ssh_login, "LOGIN_SECONDS", 0.3)
    monkeypatch.setattr(ssh_way, "RETRIES_SECONDS", (0.01, 0.01))


@fault("A8", how="no listener", result="told as refused, not as silence")
async def test_a_refused_connection_is_told_apart_from_silence(connect: Connect) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        assert "refused the connection" in await reason(connect, port=port)


async def test_a_name_nobody_knows(connect: Connect) -> None:
    assert "no-such-host.invalid:22 is no name" in await reason(connect, address="no-such-host.invalid", port=22)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (silent, "gives no SSH answer"),
        (web, "gives no SSH answer"),
        (endless_line, "not as an SSH server (Banner line too long)"),
        (endless_banner, "not as an SSH server (Too many banner lines)"),
        (version_only, "did not finish the login"),
        (rubbish_after_version, "broke off"),
        (rude, "closes the connection before the login"),
        (hangs_up_after_version, "closes the connection before the login"),
    ],
)
@fault("A11", how="web servers, rubbish, an endless banner", result="what answers is described, nothing is printed raw")
async def test_what_answers_is_described(connect: Connect, answer: Answer, words: str) -> None:
    async with listener(answer) as port:
        found = await reason(connect, port=port)
    assert words in found
    assert f"127.0.0.1:{port}" in found
    assert "\x1b" not in found


@fault("I8", how="a server of SSH 1", result="refused, told as a person's matter")
async def test_a_protocol_that_is_too_old_needs_a_person(connect: Connect) -> None:
    async with listener(old) as port:
        with pytest.raises(TransportMisconfigured, match="offers no safe SSH"):
            async with connect(None, port=port):
                pass


@fault("A14", how="logins dropped early", result="asked again, a few times")
async def test_a_host_that_drops_early_logins_is_asked_again_a_few_times(
    home: Home, server: LoopbackServer, connect: Connect
) -> None:
    """As sshd does with more than MaxStartups logins under way."""
    asked = 0

    async def drops_the_first(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal asked
        asked += 1
        if asked <= 2:
            return
        there_reader, there_writer = await asyncio.open_connection("127.0.0.1", server.port)
        async with asyncio.TaskGroup() as group:
            group.create_task(passed_on(reader, there_writer))
            group.create_task(passed_on(there_reader, writer))

    async with listener(drops_the_first) as port:
        home.know(server, port=port)
        async with connect(None, port=port) as transport:
            assert (await transport.run(["true"])).exit_status == 0
    assert asked == 3


async def passed_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65536):
        writer.write(data)
    writer.close()


async def test_one_that_always_drops_is_given_up(connect: Connect) -> None:
    asked = 0

    async def drops(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal asked
        asked += 1

    async with listener(drops) as port:
        await reason(connect, port=port)
    assert asked == 3


async def test_an_address_that_answers_is_found_beside_one_that_does_not(
    home: Home, server: LoopbackServer, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    home.know(server, "localhost")
    places = [(socket.AF_INET, ("127.0.0.1", 1)), (socket.AF_INET, ("127.0.0.1", server.port))]

    async def two_addresses(*_: object) -> list[object]:
        return list(places)

    monkeypatch.setattr(ssh_dial, "_resolved", two_addresses)
    async with connect(server, address="localhost"):
        assert server.logins == 1


async def test_giving_up_while_connecting_leaves_nothing(connect: Connect) -> None:
    async with listener(version_only) as port:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05), connect(None, port=port):
                pass
