"""Jump hosts: shared by the hosts behind them, blamed for their own faults, never a circle."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import asyncssh
import pytest

from dflashtui.errors import AuthDenied, HostKeyRejected, TransportLost, TransportMisconfigured, Unreachable
from dflashtui.transport import ssh_way
from tests.faults.marks import fault
from tests.support.ssh_server import LoopbackServer, loopback_server

from .conftest import Connect, Home


@pytest.fixture
async def jump(home: Home, server: LoopbackServer) -> AsyncIterator[LoopbackServer]:
    """The only way to `server` by ssh_config."""
    async with loopback_server(LoopbackServer(home.public_key)) as jump:
        home.know(jump)
        home.config.write_text(
            f"Host gpu-*\n  HostName 127.0.0.1\n  Port {server.port}\n  ProxyJump me@bastion\n"
            f"Host bastion\n  HostName 127.0.0.1\n  Port {jump.port}\n"
        )
        yield jump


async def test_a_host_is_reached_through_its_jump_host(
    server: LoopbackServer, jump: LoopbackServer, connect: Connect
) -> None:
    async with connect(None, address=None) as transport:
        assert (await transport.run(["echo", "hello"])).stdout == b"hello\n"
    assert (jump.users, server.users) == (["me"], ["root"])
    assert jump.sessions == 0


async def test_one_connection_to_the_jump_host_serves_all_behind_it(
    server: LoopbackServer, jump: LoopbackServer, connect: Connect
) -> None:
    async with AsyncExitStack() as stack:
        await asyncio.gather(
            *(stack.enter_async_context(connect(None, name=f"gpu-{n}", address=None)) for n in range(10))
        )
        assert (jump.logins, server.logins) == (1, 10)
    async with connect(None, address=None):
        assert jump.logins == 2


async def test_hops_are_taken_in_order(
    home: Home, server: LoopbackServer, jump: LoopbackServer, connect: Connect
) -> None:
    async with loopback_server(LoopbackServer(home.public_key)) as second:
        home.know(second)
        with home.config.open("a") as file:
            file.write(
                f"Host far\n  HostName 127.0.0.1\n  Port {server.port}\n"
                f"  ProxyJump me@bastion,you@127.0.0.1:{second.port}\n"
            )
        async with connect(None, name="far", address=None):
            assert (jump.users, second.users, server.users) == (["me"], ["you"], ["root"])


async def test_a_jump_host_may_itself_lie_behind_one(
    home: Home, server: LoopbackServer, jump: LoopbackServer, connect: Connect
) -> None:
    with home.config.open("a") as file:
        file.write(f"Host far\n  HostName 127.0.0.1\n  Port {server.port}\n  ProxyJump gpu-b\n")
    async with connect(None, name="far", address=None):
        assert (jump.logins, server.logins) == (1, 2)


@fault("A18", how="the jump host's key is unknown", result="told as the jump host's")
async def test_an_unknown_key_of_the_jump_host_is_its_own(
    home: Home, server: LoopbackServer, jump: LoopbackServer, connect: Connect
) -> None:
    home.known_hosts.unlink()
    home.know(server)
    with pytest.raises(HostKeyRejected, match=r"gpu-a: jump host bastion: host key of \[127") as refused:
        async with connect(None, address=None):
            pass
    assert refused.value.kind == "unknown"
    assert refused.value.line.startswith(f"[127.0.0.1]:{jump.port} ")
    assert jump.logins == 0


async def test_a_login_refused_by_the_jump_host_is_told_to_all_that_wait_and_tried_once(
    server: LoopbackServer, jump: LoopbackServer, connect: Connect
) -> None:
    jump.authorized_keys = asyncssh.generate_private_key("ssh-ed25519").export_public_key().decode()

    async def denied(number: int) -> str:
        with pytest.raises(AuthDenied) as failure:
            async with connect(None, name=f"gpu-{number}", address=None):
                pass
        assert failure.value.host == f"gpu-{number}"
        return failure.value.reason

    reasons = await asyncio.gather(*map(denied, range(8)))
    assert all("jump host bastion: 127.0.0.1" in reason for reason in reasons)
    assert jump.introductions == 1


async def test_a_target_out_of_its_reach_is_told(
    home: Home, server: LoopbackServer, jump: LoopbackServer, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(Unreachable, match=r"127\.0\.0\.1:1 is not reached from there"):
        async with connect(None, address=None, port=1):
            pass
    jump.allows_tcp = False
    with pytest.raises(Unreachable, match="is not reached from there"):
        async with connect(None, address=None):
            pass


@pytest.mark.parametrize("hops", ["gpu-a", "ring-1"])
@fault("A18", how="jump hosts in a circle", result="refused")
async def test_a_circle_is_refused(home: Home, connect: Connect, hops: str) -> None:
    home.config.write_text(
        f"Host gpu-a\n  ProxyJump {hops}\nHost ring-1\n  ProxyJump ring-2\nHost ring-2\n  ProxyJump ring-1\n"
    )
    with pytest.raises(TransportMisconfigured, match="ProxyJump leads in a circle: gpu-a → "):
        async with connect(None, address=None):
            pass


@fault("A18", how="the jump host dies", result="named as the jump host's fault")
async def test_a_jump_host_that_dies_takes_its_hosts_along_and_is_named(
    server: LoopbackServer, jump: LoopbackServer, connect: Connect
) -> None:
    async with connect(None, address=None) as transport:
        jump.cut()
        with pytest.raises(TransportLost, match="gpu-a: jump host bastion: "):
            await transport.lost()
    async with connect(None, address=None):
        assert jump.logins == 2


async def test_a_jump_host_that_drops_early_logins_is_blamed(
    home: Home, server: LoopbackServer, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ssh_way, "RETRIES_SECONDS", (0.01,))
    rude = await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", 0)
    async with rude:
        port = rude.sockets[0].getsockname()[1]
        home.config.write_text(f"Host gpu-a\n  ProxyJump bastion\nHost bastion\n  HostName 127.0.0.1\n  Port {port}\n")
        with pytest.raises(Unreachable, match=r"jump host bastion: 127\.0\.0\.1:.* closes the connection"):
            async with connect(None, address=None):
                pass


async def test_what_ran_behind_a_jump_host_that_dies_names_it_too(
    server: LoopbackServer, jump: LoopbackServer, connect: Connect
) -> None:
    async with connect(None, address=None) as transport, transport.stream(["sh", "-c", "echo begun; cat"]) as stream:
        chunks = aiter(stream)
        await anext(chunks)
        jump.farewell()
        with pytest.raises(TransportLost, match=r"gpu-a: jump host bastion: .*, while sh ran"):
            await anext(chunks)


async def test_a_key_of_the_jump_host_that_becomes_known_is_found(
    home: Home, server: LoopbackServer, jump: LoopbackServer, connect: Connect
) -> None:
    home.known_hosts.unlink()
    home.know(server)
    with pytest.raises(HostKeyRejected):
        async with connect(None, address=None):
            pass
    home.know(jump)
    async with connect(None, address=None):
        assert jump.logins == 1
