"""Logins: keys from files and the agent, never a prompt, never a second try after a refusal."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import asyncssh
import pytest

from dflashtui.errors import AuthDenied, TransportMisconfigured
from dflashtui.transport import ssh_keys
from tests.faults.marks import fault
from tests.support.ssh_server import LoopbackServer

from .conftest import Connect, Home

PHRASE = "only of this test"


@asynccontextmanager
async def agent_with(path: Path, *keys: asyncssh.SSHKey) -> AsyncIterator[None]:
    """An ssh-agent in this process: lists keys and signs."""

    def answer(request: bytes) -> bytes:
        if request[0] == 11:
            blobs = [(key.public_data, b"in the agent") for key in keys]
            return b"\x0c" + len(blobs).to_bytes(4, "big") + b"".join(string(part) for blob in blobs for part in blob)
        blob, rest = taken(request[1:])
        data, _ = taken(rest)
        key = next(key for key in keys if key.public_data == blob)
        return b"\x0e" + string(key.sign(data, key.algorithm))

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while length := int.from_bytes(await reader.read(4), "big"):
            writer.write(string(answer(await reader.readexactly(length))))
        writer.close()

    async with await asyncio.start_unix_server(serve, path):
        yield


def string(data: bytes) -> bytes:
    return len(data).to_bytes(4, "big") + data


def taken(data: bytes) -> tuple[bytes, bytes]:
    length = int.from_bytes(data[:4], "big")
    return data[4 : 4 + length], data[4 + length :]


async def denial(connect: Connect, server: LoopbackServer, **words: object) -> str:
    with pytest.raises(AuthDenied) as refused:
        async with connect(server, **words):
            pass
    assert server.logins == 0
    assert not refused.value.transient
    return refused.value.reason


@fault("A15", how="a key that is not authorized", result="refused after one try")
async def test_a_key_that_is_not_authorized_is_refused_after_one_try(
    home: Home, server: LoopbackServer, connect: Connect
) -> None:
    server.authorized_keys = asyncssh.generate_private_key("ssh-ed25519").export_public_key().decode()
    reason = await denial(connect, server)
    assert f"127.0.0.1:{server.port} refuses the login of root: offered 1 of your keys (me@console)" in reason
    assert server.introductions == 1


async def test_without_any_key_the_refusal_says_so(home: Home, server: LoopbackServer, connect: Connect) -> None:
    (home.folder / "id_ed25519").unlink()
    assert "there is no key to offer" in await denial(connect, server)


@fault("A15", how="a key with a passphrase, no agent", result="named; nothing is asked")
async def test_a_key_with_a_passphrase_is_named_and_asks_for_nothing(
    home: Home, server: LoopbackServer, connect: Connect
) -> None:
    key = asyncssh.read_private_key(home.folder / "id_ed25519")
    key.write_private_key(home.folder / "id_ed25519", "pkcs8-pem", passphrase=PHRASE)
    assert f"{home.folder / 'id_ed25519'} has a passphrase" in await denial(connect, server)


async def test_the_agent_signs_for_a_key_whose_file_has_a_passphrase(
    home: Home, server: LoopbackServer, connect: Connect, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = asyncssh.read_private_key(home.folder / "id_ed25519")
    key.write_private_key(home.folder / "id_ed25519", "pkcs8-pem", passphrase=PHRASE)
    other = asyncssh.generate_private_key("ssh-ed25519")
    monkeypatch.setenv("SSH_AUTH_SOCK", str(tmp_path / "agent"))
    async with agent_with(tmp_path / "agent", other, key), connect(server, identity_file=home.folder / "id_ed25519"):
        assert server.logins == 1
    server.authorized_keys = other.export_public_key().decode()
    server.logins = 0
    async with agent_with(tmp_path / "agent2", other):
        monkeypatch.setenv("SSH_AUTH_SOCK", str(tmp_path / "agent2"))
        reason = await denial(connect, server, identity_file=home.folder / "id_ed25519", name="gpu-b")
        assert "there is no key to offer" in reason


@pytest.mark.parametrize("is_there", [True, False], ids=["mute", "dead"])
@fault("A15", how="an agent that never answers", result="nobody is held up")
async def test_an_agent_that_does_not_answer_holds_nobody_up(
    home: Home,
    server: LoopbackServer,
    connect: Connect,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    is_there: bool,  # noqa: FBT001 - a parameter
) -> None:
    monkeypatch.setattr(ssh_keys, "AGENT_SECONDS", 0.05)
    path = tmp_path / "agent"
    monkeypatch.setenv("SSH_AUTH_SOCK", str(path))

    async def never(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    listener = await asyncio.start_unix_server(never, path if is_there else tmp_path / "elsewhere")
    async with listener:
        async with connect(server):
            assert server.logins == 1
        server.authorized_keys, server.logins = "", 0
        assert "agent" in await denial(connect, server, name="gpu-b")


async def test_a_named_key_that_is_not_there_is_the_callers_mistake(
    home: Home, server: LoopbackServer, connect: Connect
) -> None:
    with pytest.raises(TransportMisconfigured, match=r"/nowhere/id: No such file"):
        async with connect(server, identity_file="/nowhere/id"):
            pass


async def test_a_named_key_that_is_no_key_is_the_callers_mistake(
    home: Home, server: LoopbackServer, connect: Connect
) -> None:
    (home.folder / "not-a-key").write_text("hello")
    with pytest.raises(TransportMisconfigured, match=r"not-a-key: "):
        async with connect(server, identity_file=home.folder / "not-a-key"):
            pass


async def test_of_many_keys_not_more_are_offered_than_sshd_would_bear(
    home: Home, server: LoopbackServer, connect: Connect, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSH_AUTH_SOCK", str(tmp_path / "agent"))
    server.authorized_keys = ""
    keys = [asyncssh.generate_private_key("ssh-ed25519") for _ in range(9)]
    async with agent_with(tmp_path / "agent", *keys):
        assert "offered 6 of your keys" in await denial(connect, server)
